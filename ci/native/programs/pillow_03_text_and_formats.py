import os

from PIL import Image, ImageDraw, ImageFont

for extension in ("png", "gif", "bmp", "webp", "tiff", "pdf"):
    image = Image.new("RGB", (120, 40), (20, 40, 60))
    ImageDraw.Draw(image).text((5, 5), "Invoice 42", font=ImageFont.load_default(), fill="white")
    image.save(f"label.{extension}")
sizes = {name: Image.open(name).size for name in sorted(os.listdir(".")) if not name.endswith("pdf")}
print(open("label.pdf", "rb").read(5))
result = sizes
