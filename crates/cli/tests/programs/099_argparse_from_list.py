import argparse
import shlex

parser = argparse.ArgumentParser(prog="report", exit_on_error=False)
parser.add_argument("files", nargs="+")
parser.add_argument("-n", "--limit", type=int, default=10)
parser.add_argument("--format", choices=["json", "csv"], default="json")
parser.add_argument("-v", "--verbose", action="count", default=0)
args = parser.parse_args(shlex.split("a.csv 'b c.csv' -vv --limit=3"))
print(args.files, args.limit, args.format, args.verbose)
try:
    parser.parse_args(["x", "--limit", "many"])
except argparse.ArgumentError as error:
    print("bad", error.argument_name)
print(shlex.join(["echo", "it's", "a b"]))
