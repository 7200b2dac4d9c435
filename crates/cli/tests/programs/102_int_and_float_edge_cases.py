import math
import sys

print(7 // -2, 7 % -2, divmod(-7, 2), -7 // 2, math.fmod(-7, 2))
print(round(0.5), round(1.5), round(2.5), round(2.675, 2), round(1234.5, -2))
print(0.1 + 0.2, 1e16 + 1, 1 / 3, 1e300 * 1e10, -1e300 * 1e10)
print(float("nan") == float("nan"), math.isclose(0.1 + 0.2, 0.3), math.inf > 10**400)
print(int("0x1f", 16), int("1_000"), 0b1011, 0o17, bin(-5), hex(255))
print((2**64).bit_length(), (255).bit_count(), ~5, 5 ^ 3, 1 << 70)
print(3.0.is_integer(), (0.75).as_integer_ratio(), float.fromhex("0x1.8p1"), (1.5).hex())
print(complex(1, 2) * 1j, abs(3 + 4j), sys.float_info.dig)
