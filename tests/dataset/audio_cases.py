# ruff: noqa: E501  (one line of data a case)
"""Calls of the transforms of sound that run alike under MindSpore and under MindJAX."""

HELPERS = """
rng = np.random.RandomState(0)
wave = rng.rand(2, 60) * 2.4 - 1.2
mono = wave[0, :40].astype(np.float32)
loud = wave * 3
spec = rng.rand(2, 9, 7)
pairs = rng.randn(2, 9, 7, 2)
bins = rng.rand(2, 11, 6) * 4
codes = rng.randint(0, 256, (3, 5)).astype(np.float64)
B, W = X.BorderType, X.WindowType
"""

BIQUADS = [
    *[
        f"X.{name}Biquad(44100, 200.0)"
        for name in (
            "Allpass",
            "Band",
            "Bandpass",
            "Bandreject",
            "Bass",
            "Treble",
            "Highpass",
            "Lowpass",
        )
    ],
    *[
        f"X.{name}Biquad(8000, 700, 0.3)"
        for name in ("Allpass", "Band", "Bandpass", "Bandreject", "Highpass", "Lowpass")
    ],
    "X.BandBiquad(8000, 700.0, 0.5, True)",
    "X.BandpassBiquad(8000, 700.0, 0.5, True)",
    "X.BassBiquad(8000, -5.5, 300.0, 0.4)",
    "X.TrebleBiquad(8000, 6.5, 2000.0, 0.4)",
    "X.EqualizerBiquad(44100, 1500, 5.5, 0.7)",
    "X.Biquad(0.1, 0.2, 0.3, 2.0, 0.4, 0.1)",
    "X.DeemphBiquad(44100)",
    "X.DeemphBiquad(48000)",
    *[f"X.RiaaBiquad({rate})" for rate in (44100, 48000, 88200, 96000)],
    "X.LFilter([1.0, 0.2, 0.3], [0.3, 0.2, 0.1])",
    "X.LFilter([0.1, 0.2, 0.3], [0.3, 0.2, 0.1])",
    "X.LFilter([2.0, 0.2, 0.3, 0.1], [0.3, 0.2, 0.1, 1.5], False)",
    "X.Filtfilt([1.0, 0.2, 0.3], [0.3, 0.2, 0.1])",
    "X.Filtfilt([1.0, 0.2, 0.3], [1.3, 0.2, 0.1], False)",
]
EFFECTS = [
    "X.Contrast()",
    "X.Contrast(20)",
    "X.DBToAmplitude(0.5, 0.5)",
    "X.DCShift(0.5, 0.02)",
    "X.DCShift(-0.3, 0.05)",
    "X.DCShift(0.4)",
    *[
        f"X.Fade(5, 7, X.FadeShape.{shape})"
        for shape in ("LINEAR", "QUARTER_SINE", "HALF_SINE", "LOGARITHMIC", "EXPONENTIAL")
    ],
    "X.Fade()",
    "X.Gain(1.2)",
    "X.Gain(0)",
    "X.Vol(0.4)",
    "X.Vol(10, X.GainType.DB)",
    "X.Vol(2.5, X.GainType.POWER)",
    "X.MuLawEncoding()",
    "X.MuLawEncoding(16)",
    "X.Overdrive()",
    "X.Overdrive(3, 60)",
    "X.Phaser(44100)",
    "X.Phaser(800, 0.6, 0.9, 5.0, 0.5, 2.0, False)",
]
SPECTRA = [
    *[
        f"X.Spectrogram(16, window=W.{kind})"
        for kind in ("HANN", "HAMMING", "BLACKMAN", "BARTLETT", "KAISER")
    ],
    *[
        f"X.Spectrogram(16, 12, 5, 3, pad_mode=B.{mode})"
        for mode in ("CONSTANT", "EDGE", "REFLECT", "SYMMETRIC")
    ],
    "X.Spectrogram(16, power=0.0)",
    "X.Spectrogram(16, power=1.0, normalized=True)",
    "X.Spectrogram(15, power=3.0, center=False, onesided=False)",
    "X.Spectrogram()",
    "X.SpectralCentroid(8000, 16)",
    "X.SpectralCentroid(8000, 16, 10, 4, 2, W.HAMMING)",
    "X.Resample(48000, 16000)",
    "X.Resample(1600, 2400)",
    "X.Resample(300, 200, X.ResampleMethod.KAISER_WINDOW, 4, 0.9)",
    "X.PitchShift(1600, 4, n_fft=16)",
    "X.PitchShift(1600, -3, 5, n_fft=16, win_length=12, hop_length=3, window=W.HAMMING)",
    "X.DetectPitchFrequency(30, 0.1, 3, 5, 25)",
    "X.DetectPitchFrequency(30, 0.2, 4, 3, 12)",
]

TABLE = [
    *[f"{op}(wave)" for op in (*BIQUADS, *EFFECTS, *SPECTRA)],
    *[
        f"{op}(mono)"
        for op in (*BIQUADS[:6], *EFFECTS, "X.Spectrogram(16)", "X.Resample(1600, 2400)")
    ],
    "X.LFilter([1.0, -0.9], [1.0, 0.0])(loud)",
    "X.MuLawDecoding()(codes)",
    "X.MuLawDecoding(16)(codes[:, :2].astype(np.int32))",
    *[
        f"X.Flanger({args})({x})"
        for x in ("wave", "wave.astype(np.float32)")
        for args in (
            "44100",
            "500, 3.0, 7.0, 40.0, 60.0, 4.0, 50.0, X.Modulation.TRIANGULAR, X.Interpolation.QUADRATIC",
        )
    ],
    *[
        f"X.AmplitudeToDB({args})({x})"
        for x in ("bins", "spec.astype(np.float32)")
        for args in ("", "X.ScaleType.MAGNITUDE, 2.0, 0.5, 5.0", "top_db=3.0")
    ],
    "X.AmplitudeToDB(top_db=3.0)(rng.rand(2, 3, 4, 5) * np.arange(1, 3).reshape(2, 1, 1, 1) + 1) * 0",
    "X.Angle()(pairs)",
    "X.ComplexNorm()(pairs)",
    "X.ComplexNorm(2.0)(pairs.astype(np.float32))",
    "X.Magphase()(pairs)",
    "X.Magphase(2.0)(pairs)",
    "X.ComputeDeltas()(spec)",
    "X.ComputeDeltas(7, B.REFLECT)(spec.astype(np.float32))",
    "X.ComputeDeltas(4, B.CONSTANT)(spec)",
    *[
        f"X.SlidingWindowCmn({args})({x})"
        for x in ("spec", "spec[0]")
        for args in ("", "4, 3, True", "3, 2, False, True", "4, 1, True, True")
    ],
    *[f"X.MaskAlongAxis(1, 3, 0.5, {axis})({x})" for axis in (1, 2) for x in ("spec", "spec[0]")],
    "X.FrequencyMasking(False, 3, 2, 5.0)(spec)",
    "X.TimeMasking(False, 3, 2)(spec[0].astype(np.float32))",
    "X.FrequencyMasking()(spec)",
    "X.MelScale(3, 8000, 10.0, n_stft=9)(spec)",
    "X.MelScale(4, 8000, 0.0, 3000.0, 9, X.NormType.SLANEY, X.MelType.SLANEY)(spec.astype(np.float32))",
    "X.PhaseVocoder(2, np.linspace(0, 3, 9)[:, None])(pairs)",
    "X.PhaseVocoder(0.7, np.linspace(0, 3, 9)[:, None])(pairs[0])",
    "X.PhaseVocoder(1.0, np.linspace(0, 3, 9)[:, None])(pairs)",
    "X.TimeStretch(4, 9, 1.3)(pairs)",
    "X.TimeStretch(4, 9, 1.3)(pairs[0])",
    "X.TimeStretch(4, 9)(pairs)",
    "X.TimeStretch()(pairs[0])",
    "X.InverseSpectrogram(None, 16)(pairs)",
    "X.InverseSpectrogram(20, 16, 12, 4, normalized=True)(pairs[0].copy())",
    "X.InverseSpectrogram(1, 16, 16, 8)(pairs)",
    "X.GriffinLim(16, rand_init=False, n_iter=8)(spec)",
    "X.GriffinLim(16, 4, 12, 3, W.HAMMING, 1.0, 0.5, None, False)(spec[0].astype(np.float32))",
    "X.create_dct(4, 6)",
    "X.create_dct(4, 6, X.NormMode.ORTHO)",
    "X.linear_fbanks(20, 0, 3000, 5, 8000)",
    "X.linear_fbanks(40, 100.0, 4000.0, 7, 8000)",
    *[
        f"X.melscale_fbanks(40, 10.0, 3500, 8, 8000, X.NormType.{norm}, X.MelType.{kind})"
        for norm in ("NONE", "SLANEY")
        for kind in ("HTK", "SLANEY")
    ],
    *[
        f"X.{op}.shape"
        for op in (
            "Dither()(wave)",
            "TimeMasking(True, 3)(spec)",
            "FrequencyMasking(True, 3)(spec)",
            "MaskAlongAxisIID(3, 1.0, 2)(spec)",
            "GriffinLim(16)(spec)",
            "InverseMelScale(9, 11, 8000, max_iter=5)(bins)",
        )
    ],
    "X.Dither()(wave).dtype.str",
]

LIMITS = {
    **dict.fromkeys(
        (f"{name}Biquad" for name in ("Allpass", "Band", "Bandpass", "Bandreject", "Riaa")),
        (1e-4, 2e-5),
    ),
    "Flanger": (1e-5, 5e-6),
    "GriffinLim": (1e-3, 1e-3),
    "MFCC": (1e-3, 2e-3),
    "LFCC": (1e-3, 2e-3),
    "AmplitudeToDB": (1e-5, 1e-4),
    "Filtfilt": (1e-4, 1e-5),
}

REFUSED = [
    *[f"X.{name}Biquad(0, 200.0)" for name in ("Allpass", "Band", "Highpass")],
    "X.AllpassBiquad(44100.0, 200.0)",
    "X.AllpassBiquad(44100, 'a')",
    "X.AllpassBiquad(44100, 200.0, 0)",
    "X.AllpassBiquad(44100, 200.0, 1.1)",
    "X.AllpassBiquad(44100, 200.0)([1.0])",
    "X.AllpassBiquad(44100, 200.0)(np.array(1.0))",
    "X.AllpassBiquad(44100, 200.0)(np.array(['a']))",
    "X.BandBiquad(44100, 200.0, 0.5, 1)",
    "X.LowpassBiquad(8000, 700)((loud * 10).astype(np.int16))",
    "X.Biquad(1, 1, 1, 0, 1, 1)",
    "X.DeemphBiquad(8000)",
    "X.RiaaBiquad(8000)",
    "X.LFilter([1.0], [1.0, 2.0])",
    "X.LFilter(1.0, [1.0])",
    "X.Contrast(101)",
    "X.DCShift(2.1)",
    "X.DBToAmplitude('a', 1)",
    "X.Dither('TPDF')",
    "X.Fade(-1)",
    "X.Fade(99)(wave)",
    "X.Fade(fade_shape='linear')",
    "X.Gain('a')",
    "X.Vol(-1)",
    "X.Vol(0, X.GainType.POWER)",
    "X.Vol(1, 'db')",
    "X.MuLawEncoding(0)",
    "X.Overdrive(101)",
    "X.Phaser(44100, 2)",
    "X.Flanger(44100, 31)",
    "X.Flanger(44100)(mono)",
    "X.Spectrogram(0)",
    "X.Spectrogram(16, 17)",
    "X.Spectrogram(16, power=-1)",
    "X.Spectrogram(16, window='hann')",
    "X.InverseSpectrogram(-1)",
    "X.InverseSpectrogram(None, 18)(pairs)",
    "X.InverseSpectrogram(None, 16)(spec)",
    "X.GriffinLim(0)",
    "X.GriffinLim(20)(spec)",
    "X.GriffinLim(momentum=1.0)(np.zeros((201, 4)))",
    "X.AmplitudeToDB(amin=0)",
    "X.Angle()(spec)",
    "X.ComplexNorm(-1.0)",
    "X.Magphase()(spec)",
    "X.ComputeDeltas(2)",
    "X.SlidingWindowCmn(-1)",
    "X.MaskAlongAxis(0, 3, 1.0, 3)",
    "X.MaskAlongAxis(0, 0, 1.0, 1)",
    "X.MaskAlongAxis(5, 30, 1.0, 1)(spec)",
    "X.MaskAlongAxisIID(-1, 1.0, 1)",
    "X.MaskAlongAxisIID(30, 1.0, 1)(spec)",
    "X.TimeMasking(1)",
    "X.TimeMasking(False, 30)(spec)",
    "X.MelScale(0)",
    "X.MelScale(f_min=5000.0, f_max=4000.0)",
    "X.MelScale(4)(spec)",
    "X.MelSpectrogram(f_min=0)",
    "X.MFCC(dct_type=3)",
    "X.MFCC(n_mfcc=200)(wave)",
    "X.LFCC(n_lfcc=500)(wave)",
    "X.PhaseVocoder(0, np.zeros((9, 1)))",
    "X.PhaseVocoder(2, np.zeros((8, 1)))(pairs)",
    "X.TimeStretch(0)",
    "X.PitchShift(-1, 2)",
    "X.PitchShift(16000, 2, 0)",
    "X.Resample(0)",
    "X.Resample(rolloff=1.1)",
    "X.Resample(rolloff=1)",
    "X.DetectPitchFrequency(0)",
    "X.DetectPitchFrequency(30, win_length=0)",
    "X.InverseMelScale(0)",
    "X.create_dct(0, 1)",
    "X.create_dct(1.0, 1)",
    "X.linear_fbanks(10, 5, 4, 3, 8000)",
    "X.melscale_fbanks(10, 0, 4, 3, 8000, 'none')",
]
