//! The models that come with the program, embedded in it.

/// A shipped model.
#[derive(Debug, Clone, Copy)]
pub struct ShippedModel {
    /// The name it is found by.
    pub name: &'static str,
    /// Its place in the repository.
    pub path: &'static str,
    /// Its RON text.
    pub text: &'static str,
}

macro_rules! models {
    ($($folder:literal / $name:literal),* $(,)?) => {
        &[$(ShippedModel {
            name: $name,
            path: concat!("models/", $folder, "/", $name, ".ron"),
            text: include_str!(concat!("../../models/", $folder, "/", $name, ".ron")),
        }),*]
    };
}

/// All shipped models, in the order they are listed.
pub fn shipped_models() -> &'static [ShippedModel] {
    models![
        "mlperf_tiny" / "ad_autoencoder",
        "mlperf_tiny" / "ic_resnet8",
        "mlperf_tiny" / "kws_ds_cnn",
        "mlperf_tiny" / "sww",
        "mlperf_tiny" / "vww_mobilenetv1_025",
        "dataflow" / "finn_cnv_w1a1",
        "dataflow" / "finn_kws_w3a3",
        "dataflow" / "hls4ml_ad08",
        "vision" / "mobilenet_v2",
        "vision" / "resnet50",
        "vision" / "vit_tiny",
        "vision" / "yolov8n",
        "language" / "tinyllama_decode",
        "audio" / "lstm_kws",
    ]
}
