# attack: replace what turns the result into JSON
# expect: ok | error | crash | limit:wall_time | limit:cpu_time
# forbid: PWNED
# twice: yes
# timeout_ms: 1500
import json.encoder

if getattr(json, "planted", False):
    print("PW" + "NED: the patch was still there")
json.planted = True
fake = lambda *a, **k: '{"ok": true, "result": "x", "extra": ' + "[" * 2000 + "]" * 2000 + "}"
json.dumps = json.JSONEncoder.encode = json.encoder.encode_basestring_ascii = fake
json.encoder.c_make_encoder = None
json.encoder.JSONEncoder.iterencode = lambda *a, **k: iter(["not json"])
result = {"honest": True}
