import textwrap

paragraph = (
    "The mill turns slowly when the river is low, and quickly in spring; the miller keeps a ledger of both, "
    "because the grain does not care about the season but the customers do."
)
print(textwrap.fill(paragraph, width=40, initial_indent="* ", subsequent_indent="  "))
print(textwrap.shorten(paragraph, width=45, placeholder=" [...]"))
print(textwrap.indent("one\ntwo\n\nthree", "> "))
print(textwrap.dedent("""\
    def f():
        return 1
    """), end="")
