# attack: nested XML entities that expand to gigabytes
# expect: error | limit:memory
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 5000
import xml.etree.ElementTree as ET

levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
root = ET.fromstring(f'<!DOCTYPE x [<!ENTITY e0 "{"z" * 10}">{levels}]><x>&e9;</x>')
print("PW" + "NED:", len(root.text))
