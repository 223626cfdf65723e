"""Pictures for the tests of JPEG, written by Pillow: python3 make_jpeg.py

A grey ramp with a dark square in its upper left part, as cameras and programs store it: baseline,
progressive, grey, CMYK, and held in each of EXIF's eight orientations.
"""

import base64
import io
import json
import pathlib

from PIL import Image

WIDTH, HEIGHT = 48, 32


def picture():
    image = Image.new("L", (WIDTH, HEIGHT))
    for y in range(HEIGHT):
        for x in range(WIDTH):
            image.putpixel((x, y), 20 if 4 <= x < 16 and 4 <= y < 12 else 100 + 3 * x)
    return image


# What a camera does to a picture before it writes the orientation that undoes it.
STORED = {
    1: [],
    2: [Image.Transpose.FLIP_LEFT_RIGHT],
    3: [Image.Transpose.ROTATE_180],
    4: [Image.Transpose.FLIP_TOP_BOTTOM],
    5: [Image.Transpose.TRANSPOSE],
    6: [Image.Transpose.ROTATE_90],
    7: [Image.Transpose.TRANSVERSE],
    8: [Image.Transpose.ROTATE_270],
}


def stored(image, **options):
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=95, **options)
    return base64.b64encode(buffer.getvalue()).decode()


def main():
    image = picture()
    colour = image.convert("RGB")
    files = {
        "grey": stored(image),
        "baseline": stored(colour, subsampling=0),
        "subsampled": stored(colour, subsampling=2),
        "progressive": stored(colour, progressive=True),
        "cmyk": stored(colour.convert("CMYK")),
    }
    for orientation, steps in STORED.items():
        turned = image
        for step in steps:
            turned = turned.transpose(step)
        exif = Image.Exif()
        exif[0x0112] = orientation
        files[f"orientation {orientation}"] = stored(turned, exif=exif)
    out = {"width": WIDTH, "height": HEIGHT, "pixels": list(image.tobytes()), "files": files}
    path = pathlib.Path(__file__).with_name("jpeg.json")
    path.write_text(json.dumps(out) + "\n")


main()
