from PIL import Image, ImageDraw

image = Image.new("RGB", (400, 300), "white")
draw = ImageDraw.Draw(image)
draw.ellipse((100, 50, 300, 250), fill="red", outline="black", width=4)
image.save("circle.png")
small = Image.open("circle.png")
small.thumbnail((100, 100))
small.save("thumb.jpg", quality=85)
again = Image.open("thumb.jpg")
print(again.size, again.mode, again.format)
result = {"center": small.getpixel((50, 37)), "corner": small.getpixel((0, 0))}
