"""Writes resize.json: an image of 40x40 brought to 16 and 20 by scipy, as scikit-image's resize of
order 1 does it (Gaussian, then linear, borders mirrored), and the means of areas, of pixels cut in four. Run: python3 test/matrix/golden/make_resize.py > test/matrix/golden/resize.json"""
import json
import numpy
from scipy import ndimage

side = 40
y, x = numpy.mgrid[0:side, 0:side]
image = ((x * 37 + y * 11 + (x * y) % 29 * 7) % 256).astype(numpy.uint8)
golden = {"side": side, "image": image.flatten().tolist(), "antialias": {}, "area": {}}
for to in (16, 20):
    factor = side / to
    blurred = ndimage.gaussian_filter(image.astype(float), (factor - 1) / 2, mode="mirror")
    small = ndimage.zoom(blurred, 1 / factor, order=1, mode="mirror", grid_mode=True)
    golden["antialias"][to] = numpy.floor(small + 0.5).astype(int).flatten().tolist()
    fine = image.repeat(2, 0).repeat(2, 1).astype(float)
    block = 2 * side // to
    area = fine.reshape(to, block, to, block).mean((1, 3))
    golden["area"][to] = numpy.floor(area + 0.5).astype(int).flatten().tolist()
print(json.dumps(golden))
