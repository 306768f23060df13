# ruff: noqa: E501  (one line of data a case)
"""Calls of the transforms of images that run alike under MindSpore and under MindJAX."""

HELPERS = """
rng = np.random.RandomState(0)
u8 = rng.randint(0, 256, (11, 9, 3)).astype(np.uint8)
dark = (u8 // 5 + 20).astype(np.uint8)
ramp = np.add.outer(np.arange(12) * 9, np.arange(16) * 7).astype(np.uint8)[..., None] * np.array([1, 1, 1], np.uint8)
gray = rng.randint(0, 256, (7, 8)).astype(np.uint8)
unit = rng.rand(5, 6, 3)
f32 = (rng.rand(6, 5, 3) * 255).astype(np.float32)
boxes = np.array([[1, 2, 3, 4], [0, 0, 9, 11], [4, 5, 5, 6]], np.float32)
start = [[0, 8], [8, 8], [8, 0], [0, 0]]
end = [[0, 5], [6, 5], [6, 0], [1, 1]]
from PIL import Image
pil = Image.fromarray(u8)
def arrays(images): return tuple(np.array(image) for image in images)
"""

IMAGES = ("u8", "dark")
TABLE = [
    *[
        f"X.{op}({image})"
        for image in IMAGES
        for op in (
            "AdjustBrightness(0.7)",
            "AdjustBrightness(2.0)",
            "AdjustContrast(0.4)",
            "AdjustContrast(2.0)",
            "AdjustSaturation(0.4)",
            "AdjustSaturation(2.0)",
            "AdjustGamma(0.1)",
            "AdjustGamma(10.0, 1.0)",
            "AdjustGamma(1.7, 0.8)",
            "AdjustHue(0.2)",
            "AdjustHue(-0.5)",
            "AdjustHue(0)",
            "AdjustSharpness(0.3)",
            "AdjustSharpness(2.5)",
            "AutoContrast()",
            "AutoContrast(10.0, [10, 20])",
            "AutoContrast(20, 100)",
            "Equalize()",
            "Invert()",
            "Posterize(3)",
            "Posterize(0)",
            "Solarize(100)",
            "Solarize((50, 180))",
            "GaussianBlur(3, 3)",
            "GaussianBlur(5)",
            "GaussianBlur((3, 7), (1.5, 0.6))",
            "HorizontalFlip()",
            "VerticalFlip()",
            "Crop((2, 3), (4, 5))",
            "Crop((0, 0), 6)",
            "ResizedCrop(1, 2, 5, 6, (8, 7))",
            "ResizedCrop(0, 0, 4, 4, 9, X.Inter.NEAREST)",
            "Erase(2, 3, 4, 9)",
            "Erase(0, 0, 2, 2, (1, 2, 3))",
            "PadToSize((15, 12))",
            "PadToSize(20, (3, 4), (1, 2, 3))",
            "PadToSize(16, 2, 0, X.Border.EDGE)",
            "SlicePatches(2, 3)",
            "SlicePatches(2, 2, X.SliceMode.DROP)",
            "ToType(np.float32)",
            "RandomVerticalFlip(1.0)",
            "RandomEqualize(1.0)",
            "RandomInvert(1)",
            "RandomAutoContrast(5.0, [3], 1.0)",
            "RandomAdjustSharpness(2.0, 1.0)",
            "RandomPosterize((3, 3))",
            "RandomColor((0.5, 0.5))",
            "RandomSharpness((1.5, 1.5))",
            "RandomColorAdjust((1.3, 1.3))",
            "RandomColorAdjust(hue=(0.2, 0.2))",
            "RandomLighting(0.0)",
        )
    ],
    *[
        f"X.{op}({image})"
        for image in ("u8", "ramp")
        for op in (
            *[
                f"Rotate({degrees}, X.Inter.{inter})"
                for degrees in (0, 33, 90, 180, -45.5)
                for inter in ("NEAREST", "BILINEAR")
            ],
            "Rotate(30, X.Inter.NEAREST, True)",
            "Rotate(90, X.Inter.BILINEAR, True)",
            "Rotate(20, X.Inter.BILINEAR, False, (2, 3), (9, 8, 7))",
            "Affine(15, [0.2, 0.2], 1.1, [1.0, 1.0])",
            "Affine(15, [0.2, 0.2], 1.1, [1.0, 1.0], X.Inter.BILINEAR)",
            "Affine(-100, (-0.1, 0.3), 0.6, 20, X.Inter.BILINEAR, (1, 2, 3))",
            "Perspective(start, end)",
            "Perspective(start, end, X.Inter.NEAREST)",
            "RandomRotation((25, 25))",
            "RandomAffine((25, 25), (0.1, 0.1, 0.2, 0.2), (1.3, 1.3), (5, 5, 3, 3))",
        )
    ],
    *[
        f"X.ConvertColor(X.ConvertMode.{mode})(u8)"
        for mode in (
            "COLOR_BGR2BGRA",
            "COLOR_BGR2RGBA",
            "COLOR_BGR2RGB",
            "COLOR_BGR2GRAY",
            "COLOR_RGB2GRAY",
        )
    ],
    "X.AdjustHue(0.2)((np.arange(630) * 37 % 251).reshape(3, 70, 3).astype(np.uint8))",
    "X.AdjustContrast(2.0)(np.arange(12).astype(np.uint8).reshape(2, 2, 3) % 6)",
    "X.AdjustGamma(2.0)(unit.astype(np.float32))",
    "X.AdjustGamma(0.5, 2)(gray)",
    "X.AutoContrast()(gray)",
    "X.Equalize()(gray)",
    "X.GaussianBlur(3, 1.0)(f32)",
    "X.RgbToHsv(True)(unit)",
    "X.RgbToHsv()(unit.transpose(2, 0, 1))",
    "X.RgbToHsv(True)(u8)",
    "X.HsvToRgb(True)(unit)",
    "X.HsvToRgb()(np.stack([unit.transpose(2, 0, 1)] * 2))",
    "X.LinearTransformation(np.arange(90 * 90).reshape(90, 90) / 1000, np.arange(90.0))(unit)",
    "X.ToNumpy()([[1, 2], [3, 4]])",
    "X.ToNumpy()(pil)",
    *[
        f"np.array(X.{op}(pil))"
        for op in ("Grayscale(1)", "Grayscale(3)", "RandomGrayscale(1.0)", "Invert()")
    ],
    "arrays(X.FiveCrop((4, 5))(pil))",
    "arrays(X.TenCrop(4)(pil))",
    "arrays(X.TenCrop((3, 4), True)(pil))",
    "X.RandomHorizontalFlipWithBBox(1)(u8, boxes.copy())",
    "X.RandomVerticalFlipWithBBox(1)(u8, boxes.copy())",
    "X.ResizeWithBBox((22, 27))(u8, boxes.copy())",
    "X.ResizeWithBBox(18, X.Inter.NEAREST)(u8, boxes.copy())",
    "X.RandomCropWithBBox((11, 9))(u8, boxes.copy())",
    "X.get_image_size(u8)",
    "X.get_image_num_channels(u8)",
    "X.read_image((X.write_png(folder + '/a.png', u8), folder + '/a.png')[1])",
    "X.read_image((X.write_png(folder + '/b.png', gray), folder + '/b.png')[1])",
    "X.read_image((X.write_png(folder + '/b.png', gray), folder + '/b.png')[1], X.ImageReadMode.COLOR)",
    "X.read_file((X.write_file(folder + '/c', u8.ravel()), folder + '/c')[1])",
    "X.Decode()(X.encode_png(u8))",
    "X.encode_jpeg(u8)",
    "X.encode_jpeg(gray, 30)",
    # Of random transforms the shapes.
    *[
        f"X.{op}(u8).shape"
        for op in (
            "AutoAugment()",
            "AutoAugment(X.AutoAugmentPolicy.CIFAR10)",
            "AutoAugment(X.AutoAugmentPolicy.SVHN)",
            "RandAugment()",
            "TrivialAugmentWide()",
            "RandomColorAdjust(0.2, 0.3, 0.4, 0.1)",
            "RandomSelectSubpolicy([[(X.RandomRotation((45, 45)), 0.5), (X.RandomColorAdjust(), 1)]])",
            "RandomSolarize()",
            "RandomRotation(30, X.Inter.BILINEAR)",
            "RandomAffine(30, (0.0, 0.3), (0.5, 2.0), 10)",
            "CutOut(3, 2)",
            "RandomResize((5, 6))",
        )
    ],
    "X.RandomErasing(1.0)(f32.transpose(2, 0, 1)).shape",
    *[
        f"str([a.shape for a in X.{op}])"
        for op in (
            "MixUpBatch()(np.stack([u8, dark]), np.eye(2, dtype=np.float32))",
            "CutMixBatch(X.ImageBatchFormat.NHWC)(np.stack([u8, dark]), np.eye(2, dtype=np.float32))",
            "MixUp(2, 0.3)(np.stack([u8, dark]), np.eye(2))",
            "MixUp(2, 0.3, False)(np.stack([u8, dark]), np.eye(2))",
        )
    ],
]

LIMITS = {}

REFUSED = [
    "X.AdjustBrightness(-1)",
    "X.AdjustContrast('a')",
    "X.AdjustGamma(-1)",
    "X.AdjustHue(0.6)",
    "X.AdjustHue(0.1)(gray)",
    "X.AdjustSaturation(-1)",
    "X.AdjustSharpness(-1)",
    "X.Affine(200, [0, 0], 1, 0)",
    "X.Affine(0, [0], 1, 0)",
    "X.Affine(0, [0, 0], 0, 0)",
    "X.Affine(0, [0, 0], 1, (1, 2, 3))",
    "X.AutoAugment('imagenet')",
    "X.AutoAugment()(u8.astype(np.float32))",
    "X.AutoContrast(50)",
    "X.AutoContrast(1, 256)",
    "X.BoundingBoxAugment(3)",
    "X.ConvertColor(3)",
    "X.Crop((1,), 3)",
    "X.Crop((0, 0), 0)",
    "X.Crop((0, 0), 30)(u8)",
    "X.CutMixBatch(3)",
    "X.CutMixBatch(X.ImageBatchFormat.NHWC, 0)",
    "X.CutMixBatch(X.ImageBatchFormat.NHWC)(u8, boxes)",
    "X.CutOut(0)",
    "X.CutOut(99)(u8)",
    "X.Equalize()(f32)",
    "X.Erase(-1, 0, 1, 1)",
    "X.Erase(0, 0, 1, 1, 256)",
    "X.FiveCrop(0)",
    "X.FiveCrop(3)(u8)",
    "X.FiveCrop(30)(pil)",
    "X.GaussianBlur(2)",
    "X.GaussianBlur(3, -1)",
    "X.GaussianBlur((3, 3, 3))",
    "X.Grayscale(2)",
    "X.Grayscale()(u8)",
    "X.HsvToRgb(1)",
    "X.HsvToRgb()(gray)",
    "X.RgbToHsv()(u8)",
    "X.LinearTransformation(np.zeros((2, 3)), np.zeros(2))",
    "X.LinearTransformation(np.zeros((2, 2)), np.zeros(3))",
    "X.LinearTransformation(np.zeros((2, 2)), np.zeros(2))(u8)",
    "X.MixUp(0, 0.1)",
    "X.MixUp(2, 0)",
    "X.MixUpBatch(0)",
    "X.MixUpBatch()(u8, boxes)",
    "X.NormalizePad([1], [1, 2])",
    "X.NormalizePad([1], [1], 'float64')",
    "X.NormalizePad([1], [1], 3)",
    "X.PadToSize(0)",
    "X.PadToSize(5)(u8)",
    "X.PadToSize((1, 2, 3))",
    "X.Perspective(start, end[:3])",
    "X.Perspective(start, end, 3)",
    "X.Posterize(9)",
    "X.RandAugment(-1)",
    "X.RandAugment(2, 40)",
    "X.RandomAdjustSharpness(-1)",
    "X.RandomAffine(-1)",
    "X.RandomAffine(1, (2, 0))",
    "X.RandomAffine(1, scale=(2, 1))",
    "X.RandomColor((1,))",
    "X.RandomColor((2, 1))",
    "X.RandomColorAdjust(-1)",
    "X.RandomColorAdjust(hue=(0, 1))",
    "X.RandomEqualize(2)",
    "X.RandomErasing(2)",
    "X.RandomErasing(value='a')",
    "X.RandomErasing(scale=(2, 1))",
    "X.RandomLighting(-1)",
    "X.RandomPerspective(2.0)",
    "X.RandomPerspective(0.5, 1.0)(u8)",
    "X.RandomPosterize(9)",
    "X.RandomPosterize((1, 2, 3))",
    "X.RandomRotation((1, 2, 3))",
    "X.RandomRotation((2, 1))",
    "X.RandomSelectSubpolicy([])",
    "X.RandomSelectSubpolicy([[]])",
    "X.RandomSelectSubpolicy([[(3, 1)]])",
    "X.RandomSolarize((2, 1))",
    "X.RandomSolarize(3)",
    "X.RandomResize(0)",
    "X.ResizedCrop(-1, 0, 1, 1, 5)",
    "X.ResizedCrop(0, 0, 99, 99, 5)(u8)",
    "X.ResizeWithBBox(3, None)",
    "X.ResizeWithBBox(3)(u8)",
    "X.ResizeWithBBox(3)(u8, boxes * 9)",
    "X.RandomVerticalFlipWithBBox(2)",
    "X.Rotate('a')",
    "X.Rotate(1, center=(1, 2, 3))",
    "X.SlicePatches(0)",
    "X.SlicePatches(99)(u8)",
    "X.Solarize((2, 1))",
    "X.Solarize(300)",
    "X.TenCrop(3, 1)",
    "X.TrivialAugmentWide(1)",
    "X.UniformAugment([X.RandomColor()])",
    "X.UniformAugment([X.RandomColor(), 3])",
    "X.encode_jpeg(u8, 0)",
    "X.encode_jpeg(f32)",
    "X.encode_jpeg(3)",
    "X.encode_png(u8, 10)",
    "X.encode_png(u8, 'a')",
    "X.read_file(folder + '/none')",
    "X.read_image(folder + '/none')",
    "X.read_image(3)",
    "X.write_file(folder + '/d', u8)",
    "X.write_file(3, u8)",
    "X.get_image_size(3)",
]
