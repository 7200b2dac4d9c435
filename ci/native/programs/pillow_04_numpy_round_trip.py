import numpy as np
from PIL import Image

y, x = np.mgrid[0:32, 0:32]
pixels = np.stack([x * 8, y * 8, (x + y) * 4], axis=-1).astype("uint8")
image = Image.fromarray(pixels)
turned = np.asarray(image.rotate(90, expand=True))
gray = np.asarray(image.convert("L"))
print(turned.shape, gray.dtype)
result = {"mean": gray.mean().round(4), "same_back": bool((np.rot90(pixels) == turned).all())}
