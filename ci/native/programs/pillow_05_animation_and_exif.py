import io

from PIL import Image

frames = [Image.new("RGB", (20, 20), (value, 0, 0)) for value in (0, 100, 200)]
frames[0].save("pulse.gif", save_all=True, append_images=frames[1:], duration=100, loop=0)
exif = Image.Exif()
exif[0x010E] = "a description"
buffer = io.BytesIO()
frames[2].save(buffer, format="JPEG", exif=exif)
buffer.seek(0)
print(Image.open(buffer).getexif()[0x010E])
result = Image.open("pulse.gif").n_frames
