from PIL import Image, ImageFilter, ImageOps

gradient = Image.linear_gradient("L").resize((64, 64))
blurred = gradient.filter(ImageFilter.GaussianBlur(2))
inverted = ImageOps.invert(blurred)
equalized = ImageOps.equalize(gradient)
edges = gradient.filter(ImageFilter.FIND_EDGES)
print(inverted.getextrema(), equalized.getextrema())
result = {"histogram": gradient.histogram()[::32], "edges": sum(edges.histogram()[1:])}
