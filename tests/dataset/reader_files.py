"""Tiny copies of public data sets, written alike for MindSpore and for MindJAX.

``write_sets(root)`` writes a folder a set. Encoded images and sounds are made here byte by byte, so
that they do not depend on the version of a library.
"""

import io
import json
import struct
import zlib

import numpy as np


def pixels(seed, height=2, width=3, channels=3):
    """Random bytes of a shape."""
    return np.random.RandomState(seed).randint(0, 256, (height, width, channels)).astype(np.uint8)


def png(seed, height=2, width=3, channels=3, image=None):
    """A PNG file without compression, of random pixels or of those given."""
    image = pixels(seed, height, width, channels) if image is None else image
    height, width, channels = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    packed = b"\x78\x01\x01" + struct.pack("<HH", len(rows), len(rows) ^ 0xFFFF) + rows
    packed += struct.pack(">I", zlib.adler32(rows))
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)

    def chunk(name, data):
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    )


def bmp(image):
    """A BMP file of 8 bits a pixel."""
    height, width = image.shape
    palette = b"".join(bytes((i, i, i, 0)) for i in range(256))
    start = 54 + len(palette)
    head = b"BM" + struct.pack("<IHHI", start + image.size, 0, 0, start)
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 0, image.size, 0, 0, 256, 256)
    return head + info + palette + image[::-1].tobytes()


def samples(seed, count=5):
    """Random 16-bit samples, the ends of the range among them."""
    values = np.random.RandomState(seed).randint(-32768, 32768, count)
    values[:2] = -32768, 32767
    return values.astype("<i2")


def wav(seed, rate=16000, channels=1, count=5):
    """A WAV file of 16-bit samples."""
    data = samples(seed, count * channels).tobytes()
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * 2 * channels, 2 * channels, 16)
    body = (
        b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(data)) + data
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def sph(seed, rate=10, count=60):
    """A NIST SPHERE file of 16-bit samples."""
    text = (
        "NIST_1A\n   1024\n"
        f"sample_count -i {count}\nsample_n_bytes -i 2\nchannel_count -i 1\n"
        f"sample_byte_format -s2 01\nsample_rate -i {rate}\nsample_coding -s3 pcm\nend_head\n"
    )
    return text.encode().ljust(1024) + samples(seed, count).tobytes()


def idx_images(count, seed=0, size=28):
    """An IDX file of images."""
    data = np.random.RandomState(seed).randint(0, 256, count * size * size).astype(np.uint8)
    return struct.pack(">IIII", 2051, count, size, size) + data.tobytes()


def idx_labels(*labels):
    """An IDX file of labels."""
    return struct.pack(">II", 2049, len(labels)) + bytes(labels)


def mat(**values):
    """A MATLAB file."""
    from scipy.io import savemat

    out = io.BytesIO()
    savemat(out, values)
    return out.getvalue()


def digits():
    """The relatives of MNIST, and digits of other formats."""
    for number, (prefix, part) in enumerate((("train", "train"), ("t10k", "test"))):
        yield f"kmnist/{prefix}-images-idx3-ubyte", idx_images(2, number)
        yield f"kmnist/{prefix}-labels-idx1-ubyte", idx_labels(3 + number, 1)
        for name in ("letters", "mnist"):
            stem = f"emnist/emnist-{name}-{part}"
            yield f"{stem}-images-idx3-ubyte", idx_images(2, 2 + number)
            yield f"{stem}-labels-idx1-ubyte", idx_labels(5, 7 + number)
    for number, (stem, count) in enumerate((("qmnist-train", 2), ("qmnist-test", 3), ("xnist", 2))):
        full = np.random.RandomState(number).randint(0, 4000, (count, 8)).astype(">i4")
        full[:, 0] = np.arange(count) + number
        yield f"qmnist/{stem}-images-idx3-ubyte", idx_images(count, 5 + number)
        yield (
            f"qmnist/{stem}-labels-idx2-int",
            struct.pack(">III", 3074, count, 8) + full.tobytes(),
        )
    for number, (name, count) in enumerate((("usps", 3), ("usps.t", 2))):
        values = np.random.RandomState(number).uniform(-1, 1, (count, 256)).round(4)
        lines = [
            f"{label + 1} " + " ".join(f"{i + 1}:{v:g}" for i, v in enumerate(row)) + " "
            for label, row in zip((0, 9, 4), values, strict=False)
        ]
        yield f"usps/{name}", "\n".join(lines) + "\n"
    bits = np.random.RandomState(0).randint(0, 2, (3, 256))
    lines = []
    for label, row in zip((0, 9, 4), bits, strict=True):
        hot = " ".join(str(int(place == label)) for place in range(10))
        lines.append(" ".join(f"{bit:.4f}" for bit in row) + " " + hot + " ")
    yield "semeion/semeion.data", "\n".join(lines) + "\n"
    for number, (name, count) in enumerate((("train", 2), ("test", 3), ("extra", 2))):
        images = np.random.RandomState(number).randint(0, 256, (32, 32, 3, count))
        labels = np.array([[10], [2 + number], [1]], np.uint8)[:count]
        yield f"svhn/{name}_32x32.mat", mat(X=images.astype(np.uint8), y=labels)
    for number, (name, count) in enumerate((("train", 2), ("test", 1), ("unlabeled", 1))):
        data = np.random.RandomState(number).randint(0, 256, count * 96 * 96 * 3)
        yield f"stl10/{name}_X.bin", data.astype(np.uint8).tobytes()
        if name != "unlabeled":
            yield f"stl10/{name}_y.bin", bytes((1 + number, 10))[:count]


def coco():
    """COCO, with an annotation file a task."""
    for number in range(3):
        yield f"coco/images/{number}.png", png(number)
    images = [
        {"id": number, "file_name": f"{number}.png", "height": 2, "width": 3}
        for number in (2, 0, 1)
    ]
    categories = [
        {"id": 7, "name": "cat", "supercategory": "animal", "isthing": 1},
        {"id": 3, "name": "bus", "supercategory": "vehicle", "isthing": 0},
    ]
    boxes = [
        (0, 7, [0.5, 1, 2, 1.5], 0, [[0, 0, 1.5, 1, 2, 2]]),
        (2, 3, [1, 0, 1, 1], 1, {"counts": [1, 2, 3], "size": [2, 3]}),
        (0, 3, [0, 0, 3, 2], 0, [[0, 0, 1, 1], [2, 2, 1, 0, 0, 0.25]]),
    ]
    found = [
        {
            "id": number,
            "image_id": image,
            "category_id": category,
            "bbox": box,
            "iscrowd": crowd,
            "segmentation": shape,
            "area": 3.5,
            "keypoints": [number, 1, 2, 4, 0, 1],
            "num_keypoints": 2 - number % 2,
        }
        for number, (image, category, box, crowd, shape) in enumerate(boxes)
    ]
    parts = [
        {"id": 5 + n, "category_id": c, "bbox": [n, 0, 2, 1], "iscrowd": n, "area": 9 + n}
        for n, c in enumerate((3, 7))
    ]
    panoptic = [
        {"image_id": 1, "file_name": "1.png", "segments_info": parts},
        {"image_id": 2, "file_name": "2.png", "segments_info": parts[1:]},
    ]
    captions = [
        {"id": number, "image_id": image, "caption": text}
        for number, (image, text) in enumerate(((1, "a b"), (0, "x"), (1, "longer"), (2, "é")))
    ]
    base = {"images": images, "categories": categories}
    for name, value in (
        ("instances", {**base, "annotations": found}),
        ("panoptic", {**base, "annotations": panoptic}),
        ("captions", {"images": images, "annotations": captions}),
        ("no_categories", {"images": images, "annotations": found}),
        ("no_images", {"categories": categories, "annotations": found}),
        ("no_annotations", base),
        ("no_box", {**base, "annotations": [{"id": 1, "image_id": 0, "category_id": 7}]}),
        ("other_category", {**base, "annotations": [{**found[0], "category_id": 9}]}),
        ("other_image", {**base, "annotations": [{**found[0], "image_id": 9}]}),
    ):
        yield f"coco/{name}.json", json.dumps(value)
    yield "coco/broken.json", '{"images": ['
    gone = {**base, "images": [{"id": 0, "file_name": "gone.png"}], "annotations": found[:1]}
    yield "coco/gone.json", json.dumps(gone)


def voc():
    """VOC, for both tasks."""

    def boxed(name, corners, extra="<truncated>1</truncated><difficult>1</difficult>"):
        edges = zip(("xmin", "ymin", "xmax", "ymax"), corners, strict=True)
        box = "".join(f"<{key}>{value}</{key}>" for key, value in edges)
        return f"<object><name>{name}</name>{extra}<bndbox>{box}</bndbox></object>"

    objects = {
        "b": boxed("dog", (1, 2, 3, 5)) + boxed("cat", (1, 1, 2.5, 9), "<difficult>0</difficult>"),
        "a": boxed("cat", (3, 1, 8, 2), "<truncated>0</truncated>"),
        "none": "",
        "boxless": "<object><name>cat</name></object>",
        "reversed": boxed("cat", (3, 3, 1, 1)),
        "outside": boxed("cat", (0, 1, 2, 2)),
        "nameless": "<object><bndbox/></object>",
        "half": "<object><name>cat</name><bndbox><xmin>1</xmin></bndbox></object>",
    }
    for number, (name, inner) in enumerate(objects.items()):
        yield f"voc/JPEGImages/{name}.jpg", png(number)
        yield f"voc/SegmentationClass/{name}.png", png(9 + number)
        yield f"voc/Annotations/{name}.xml", f"<annotation>{inner}</annotation>"
        yield f"voc/ImageSets/Main/{name}.txt", f"{name}\n"
    yield "voc/JPEGImages/spoiled.jpg", png(1)
    yield "voc/Annotations/spoiled.xml", "<annotation><object>"
    yield "voc/ImageSets/Main/spoiled.txt", "spoiled\n"
    yield "voc/ImageSets/Main/gone.txt", "gone\n"
    yield "voc/ImageSets/Segmentation/gone.txt", "gone\n"
    yield "voc/ImageSets/Segmentation/blank.txt", ""
    for task in ("Main", "Segmentation"):
        yield f"voc/ImageSets/{task}/train.txt", "b\na\n"


def detection():
    """KITTI and WIDERFace."""
    for name in ("000001", "000000"):
        yield f"kitti/data_object_image_2/training/image_2/{name}.png", png(int(name))
        yield f"kitti/data_object_image_2/testing/image_2/{name}.png", png(2 + int(name))
        lines = "Van 0.5 1 -1.5 1 2 3.5 4 1.5 1.6 3.7 -2 1 9.25 0.1\n"
        if name == "000000":
            lines += "DontCare -1 -1 -10 5 6 7 8 -1 -1 -1 -1000 -1000 -1000 -10\n"
            lines += "Pedestrian 0 3 0.2 0 0 1 1 2 2 2 3 3 3 1.5\n"
        yield f"kitti/data_object_label_2/training/label_2/{name}.txt", lines
    faces = {
        "train": "0--Parade/b.jpg\n2\n1 2 3 4 2 0 1 0 1 2 \n5 6 7 8 0 1 0 1 0 0 \n"
        "1--Other/a.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \n",
        "val": "1--Other/f.jpg\n1\n1 1 1 1 1 1 1 1 1 1 \n"
        "0--Parade/c.jpg\n1\n9 8 7 6 1 1 1 0 2 1 \n",
    }
    for number, (part, name) in enumerate(
        (
            ("train", "0--Parade/b"),
            ("train", "1--Other/a"),
            ("val", "0--Parade/c"),
            ("val", "1--Other/f"),
            ("test", "0--Parade/e"),
            ("test", "0--Parade/d"),
        )
    ):
        yield f"wider/WIDER_{part}/images/{name}.jpg", png(number)
    for part, text in faces.items():
        yield f"wider/wider_face_split/wider_face_{part}_bbx_gt.txt", text
    yield (
        "wider/wider_face_split/wider_face_test_filelist.txt",
        "0--Parade/e.jpg\n0--Parade/d.jpg\n",
    )


def segmentation():
    """Cityscapes, DIV2K, Flowers102 and SBD."""
    for number, (part, city, name) in enumerate(
        (
            ("train", "bochum", "bochum_1_2"),
            ("train", "aachen", "aachen_3_4"),
            ("train", "aachen", "aachen_1_2"),
            ("val", "ulm", "ulm_1_2"),
            ("test", "bonn", "bonn_1_2"),
            ("train_extra", "trier", "trier_1_2"),
        )
    ):
        yield f"cityscapes/leftImg8bit/{part}/{city}/{name}_leftImg8bit.png", png(number)
        kind = "gtCoarse" if part == "train_extra" else "gtFine"
        for form in {"gtCoarse", kind} if part in ("train", "val") else {kind}:
            stem = f"cityscapes/{form}/{part}/{city}/{name}_{form}_"
            for place, ending in enumerate(("color", "instanceIds", "labelIds")):
                yield f"{stem}{ending}.png", png(10 * place + number)
            yield f"{stem}polygons.json", json.dumps({"objects": [number]})
    for number, name in enumerate(("0002", "0001")):
        for part in ("train", "valid"):
            base = f"div2k/DIV2K_{part}"
            yield f"{base}_HR/{name}.png", png(number)
            for down in ("bicubic", "unknown"):
                for scale in (2, 3, 4):
                    stem = f"{base}_LR_{down}/X{scale}/{name}x{scale}.png"
                    yield stem, png(10 * scale + number)
            for down in ("mild", "difficult", "wild"):
                yield f"{base}_LR_{down}/{name}x4{down[0]}.png", png(50 + number)
            yield f"{base}_LR_x8/{name}x8.png", png(60 + number)
    for number in range(1, 6):
        yield f"flowers/jpg/image_{number:05}.jpg", png(number)
        yield f"flowers/segmim/segmim_{number:05}.jpg", png(10 + number)
    yield "flowers/imagelabels.mat", mat(labels=np.array([[3, 1, 77, 1, 102]], np.uint8))
    yield (
        "flowers/setid.mat",
        mat(
            trnid=np.array([[4, 1]], np.uint16),
            valid=np.array([[2]], np.uint16),
            tstid=np.array([[5, 3]], np.uint16),
        ),
    )
    from scipy.sparse import csc_matrix

    bounds = np.empty((20, 1), object)
    for place in range(20):
        bounds[place, 0] = csc_matrix(np.eye(2, 3, place % 3, np.uint8))
    target = {"Boundaries": bounds, "Segmentation": np.array([[0, 1, 2], [3, 4, 255]], np.uint8)}
    for number, name in enumerate(("b", "a", "c")):
        yield f"sbd/img/{name}.jpg", png(number)
        yield f"sbd/cls/{name}.mat", mat(GTcls=target)
        yield f"sbd/inst/{name}.mat", mat(GTinst=target)
    for name, text in (("train", "b\na\n"), ("val", "c\n"), ("train_noval", "a\n")):
        yield f"sbd/{name}.txt", text


def folders():
    """Sets whose classes are folders or lists of paths."""
    for number, name in enumerate(("2.png", "1.png")):
        for place, label in enumerate(("002.b", "001.a")):
            yield f"caltech256/{label}/{number}.jpg", png(10 * place + number)
        for place, label in enumerate(("Faces", "Faces_easy", "ant", "airplanes")):
            stem = f"image_{number + 1:04}.jpg"
            yield f"caltech101/101_ObjectCategories/{label}/{stem}", png(10 * place + number)
        for place, label in enumerate(("Faces_2", "Faces_3", "ant", "Airplanes_Side_2")):
            contour = np.arange(6).reshape(2, 3) + 0.5 + place
            path = f"caltech101/Annotations/{label}/annotation_{number + 1:04}.mat"
            yield path, mat(obj_contour=contour, box_coord=np.array([[1, 2, 3, 4]]))
        for place, part in enumerate(("train", "valid", "test")):
            for label in ("positive", "negative"):
                yield f"sst2/{part}/{label}/{name}", png(10 * place + number + 5 * (label < "o"))
        for place, path in enumerate(("a/abbey", "a/apartment/outdoor", "b/bar")):
            yield f"sun397/{path}/sun_{number}.jpg", png(10 * place + number)
        for place, part in enumerate(("background", "evaluation")):
            for label in ("Greek/character02", "Greek/character01", "Arcadian/character01"):
                yield (
                    f"omniglot/images_{part}/{label}/{name}",
                    png(10 * place + len(label) + number),
                )
        for place, part in enumerate(
            ("bedroom_train", "bedroom_val", "tower_train", "tower_val", "zoo_train", "test")
        ):
            yield f"lsun/{part}/{number}.jpg", png(10 * place + number)
        for place, label in enumerate(("pie", "apple")):
            yield f"food101/images/{label}/{number}.jpg", png(10 * place + number)
    yield "caltech101/101_ObjectCategories/BACKGROUND_Google/image_0001.jpg", png(0)
    yield "sun397/ClassName.txt", "/a/abbey\n/a/apartment/outdoor\n/b/bar\n"
    yield "food101/meta/train.txt", "pie/1\napple/0\n"
    yield "food101/meta/test.txt", "apple/1\npie/0\n"
    yield "food101/meta/classes.txt", "apple\npie\n"
    yield "places/categories_places365.txt", "/a/airfield 0\n/z/zoo 1\n"
    yield "places/places365_train_standard.txt", "/z/zoo/2.jpg 1\n/a/airfield/1.jpg 0\n"
    yield "places/places365_train_challenge.txt", "/z/zoo/2.jpg 1\n"
    yield "places/places365_val.txt", "v2.jpg 0\nv1.jpg 1\n"
    for place, size in enumerate(("256", "large")):
        for number, name in enumerate(("a/airfield/1", "z/zoo/2")):
            yield f"places/data_{size}_standard/{name}.jpg", png(10 * place + number)
            yield f"places/data_{size}_challenge/{name}.jpg", png(20 + 10 * place + number)
            yield f"places/val_{size}/v{number + 1}.jpg", png(40 + 10 * place + number)
    attributes = " ".join(f"attr{number}" for number in range(40))
    rows = [
        f"{number:06}.jpg " + " ".join("1" if (i + number) % 3 else "-1" for i in range(40))
        for number in (1, 2, 3)
    ]
    yield "celeba/list_attr_celeba.txt", "\n".join(["3", attributes, *rows]) + "\n"
    yield "celeba/list_eval_partition.txt", "000001.jpg 0\n000002.jpg 2\n000003.jpg 1\n"
    for number in (1, 2, 3):
        yield f"celeba/{number:06}.jpg", png(number)


def faces():
    """LFW, PhotoTour, and sets with captions."""
    for place, folder in enumerate(("lfw", "lfw_funneled", "lfw-deepfunneled")):
        for number, name in enumerate(("Bob_B/Bob_B_0001", "Bob_B/Bob_B_0002", "Al_A/Al_A_0001")):
            yield f"lfw/{folder}/{name}.jpg", png(10 * place + number)
    yield "lfw/lfw-names.txt", "Zed_Z\t1\nBob_B\t2\nAl_A\t1\n"
    yield "lfw/people.txt", "2\n1\nBob_B\t2\n1\nAl_A\t1\n"
    yield "lfw/peopleDevTrain.txt", "1\nBob_B\t2\n"
    yield "lfw/peopleDevTest.txt", "1\nAl_A\t1\n"
    pair, other = "Bob_B\t1\t2\n", "Bob_B\t2\tAl_A\t1\n"
    yield "lfw/pairs.txt", f"2\t1\n{pair}{other}{pair}{other}"
    yield "lfw/pairsDevTrain.txt", f"1\n{pair}{other}"
    yield "lfw/pairsDevTest.txt", f"1\n{pair}{other}"
    sheet = np.random.RandomState(0).randint(0, 256, (1024, 1024)).astype(np.uint8)
    yield "phototour/liberty/patches0000.bmp", bmp(sheet)
    yield "phototour/liberty/info.txt", "0 0\n0 0\n1 0\n"
    yield (
        "phototour/liberty/m50_100000_100000_0.txt",
        "0 0 0 1 0 0 0\n2 1 0 0 0 0 0\n1 0 0 2 1 0 0\n",
    )
    for number in range(3):
        yield f"sbu/sbu_images/m_{number}_x.jpg", png(number)
        yield f"flickr/images/{number}.jpg", png(number)
    urls = [f"http://static.flickr.com/{number}/x.jpg" for number in (2, 0, 7)]
    yield "sbu/SBU_captioned_photo_dataset_urls.txt", "\n".join(urls) + "\n"
    yield "sbu/SBU_captioned_photo_dataset_captions.txt", "two words \n zero\ngone\n"
    lines = [f"{n}.jpg#{k}\tcaption {n} {k} .\n" for n in (1, 0) for k in range(5)]
    yield "flickr/tokens.txt", "".join(lines)
    yield "flickr/few.txt", "".join(lines[:4])
    yield "flickr/gone.txt", "".join(line.replace("1.jpg", "gone.jpg") for line in lines)


def recordings():
    """Sets of sound."""
    for number, name in enumerate(("arctic_a0002", "arctic_a0001")):
        yield f"cmu/cmu_us_aew_arctic/wav/{name}.wav", wav(number)
    yield (
        "cmu/cmu_us_aew_arctic/etc/txt.done.data",
        '( arctic_a0001 "Author of the, danger." )\n( arctic_a0002 "Not at \'this\'." )\n',
    )
    for number, name in enumerate(
        ("blues.00093", "blues.00029", "blues.00012", "disco.00000", "jazz.00010", "rock.00012")
    ):
        yield f"gtzan/{name[: name.index('.')]}/{name}.wav", wav(number, 22050)
    for number, (part, name) in enumerate(
        (
            ("dev-clean", "116_288045_000003_000000"),
            ("dev-clean", "116_288045_000003_000001"),
            ("test-clean", "84_121123_000007_000001"),
            ("train-clean-100", "9_1_000002_000001"),
            ("dev-other", "8_1_000002_000001"),
        )
    ):
        speaker, chapter = name.split("_")[:2]
        base = f"libritts/{part}/{speaker}/{chapter}"
        yield f"{base}/{name}.wav", wav(number, 24000)
        if part != "dev-clean":
            yield f"{base}/{speaker}_{chapter}.trans.tsv", f"{name}\tC {number}.\tc\n"
    yield (
        "libritts/dev-clean/116/288045/116_288045.trans.tsv",
        "116_288045_000003_000001\tB one.\tb one\n116_288045_000003_000000\tA, zero!\ta zero\n",
    )
    yield "ljspeech/metadata.csv", 'LJ2|Dr. "B", b|Doctor B\nLJ1|a|A\n'
    for number in (1, 2):
        yield f"ljspeech/wavs/LJ{number}.wav", wav(number, 22050)
    for number, name in enumerate(
        ("dog/b4_nohash_1", "dog/a3_nohash_0", "cat/b4_nohash_0", "cat/c5_nohash_0")
    ):
        yield f"speech/{name}.wav", wav(number)
    yield "speech/_background_noise_/pink.wav", wav(9)
    yield "speech/validation_list.txt", "dog/a3_nohash_0.wav\n"
    yield "speech/testing_list.txt", "cat/c5_nohash_0.wav\n"
    talks = (
        ("release1/train", "B"),
        ("release1/train", "A"),
        ("release1/test", "C"),
        ("release1/dev", "D"),
        ("release3/data", "E"),
    )
    for number, (part, talk) in enumerate(talks):
        yield f"tedlium/{part}/sph/{talk}.sph", sph(number)
        yield (
            f"tedlium/{part}/stm/{talk}.stm",
            f"{talk} 1 {talk}_sp 0.5 2.04 <o,f0,male> so {{SMACK}} hello(2) there \n"
            f"{talk} 1 inter_segment_gap 2.04 3 <o,,unknown> ignore_time_segment_in_scoring\n",
        )
    for number, name in enumerate(("1_0_0_1_0_1_1_1", "0_0_1_0_1_0_0_0")):
        yield f"yesno/{name}.wav", wav(number, 8000)


def write_sets(root):
    """Write every set below a folder, and a few bad ones."""
    for group in (
        digits,
        coco,
        voc,
        detection,
        segmentation,
        folders,
        faces,
        recordings,
        spoiled,
    ):
        for path, content in group():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
    (root / "empty").mkdir()
    lines = []
    for usage, name, label in (
        ("train", "b", "dog"),
        ("eval", "a", "cat"),
        ("train", "c", "cat"),
        ("inference", "a", "dog"),
    ):
        (root / "manifest").mkdir(exist_ok=True)
        (root / "manifest" / f"{name}.png").write_bytes(png(ord(name)))
        note = {"type": "modelarts/image_classification", "name": label, "property": {}}
        entry = {"source": f"{root}/manifest/{name}.png", "usage": usage, "annotation": [note]}
        lines.append(json.dumps(entry))
    (root / "manifest" / "list").write_text("\n".join(lines) + "\n")
    (root / "manifest" / "broken").write_text(lines[0] + "\n{no json\n")
    gone = lines[0].replace("b.png", "gone.png")
    (root / "manifest" / "gone").write_text(gone + "\n")


def spoiled():
    """Sets with a bad file."""
    yield "bad/kmnist/train-images-idx3-ubyte", idx_images(2)[:-5]
    yield "bad/kmnist/train-labels-idx1-ubyte", idx_labels(1, 2)
    yield "bad/emnist/emnist-mnist-train-images-idx3-ubyte", b"\0\0\0\7" + idx_images(2)[4:]
    yield "bad/emnist/emnist-mnist-train-labels-idx1-ubyte", idx_labels(1, 2)
    yield "bad/qmnist/qmnist-train-images-idx3-ubyte", idx_images(2)
    yield "bad/qmnist/qmnist-train-labels-idx2-int", struct.pack(">III", 3074, 2, 8) + b"\0" * 9
    yield "bad/usps/usps", "1 1:0.5 2:x\n"
    yield "bad/semeion/semeion.data", "0.0 1.0\n"
    yield "bad/svhn/train_32x32.mat", b"no matlab file"
    yield "bad/stl10/train_X.bin", bytes(100)
    yield "bad/stl10/train_y.bin", bytes(1)
    yield "bad/yesno/1_0_0_1_0_1_1_1.wav", b"RIFF of nothing"
    yield "bad/yesname/hello.wav", wav(0)
    yield "bad/gtzan/blues/blues.00000.wav", wav(0)[:20]
    yield "bad/cmu/cmu_us_aew_arctic/etc/txt.done.data", '( arctic_a0001 "Text" )\n'
    yield "bad/ljspeech/metadata.csv", "LJ1|a|A\n"
    yield "bad/speech/dog/a_nohash_0.wav", b"no wav"
    yield "bad/tedlium/train/stm/A.stm", "A 1 sp 0 1 <o,f0,male> text\n"
    yield "bad/celeba/list_attr_celeba.txt", "1\nattr0\n000001.jpg 1\n"
    yield "bad/caltech256/001.a/1.jpg", b"no image"
    yield "bad/kitti/data_object_image_2/training/image_2/0.png", png(0)
    yield "bad/wider/WIDER_train/images/x.jpg", png(0)
    yield "bad/wider/wider_face_split/wider_face_train_bbx_gt.txt", "a.jpg\n1\n1 2 3\n"
    yield "bad/food101/images/pie/0.jpg", png(0)
    yield "bad/food101/meta/train.txt", "pie/9\n"
    yield "bad/sbu/SBU_captioned_photo_dataset_urls.txt", "http://static.flickr.com/1/x.jpg\n"
    yield "bad/places/places365_train_standard.txt", "/a/b/1.jpg 0\n"
    yield "bad/libritts/dev-clean/1/2/1_2_3_4.wav", wav(0)
    yield "bad/lfw/people.txt", "1\nNo_One\t1\n"
    yield "bad/phototour/liberty/info.txt", "0 0\n"
    yield "bad/cityscapes/leftImg8bit/train/ulm/ulm_1_leftImg8bit.png", png(0)
    yield "bad/flowers/imagelabels.mat", b"no matlab file"
    yield "bad/caltech101/101_ObjectCategories/ant/image_0001.jpg", png(0)
