/* engine/tensors/foreign.h - how formats of others are known that neither begin with a magic nor are archives. */
#pragma once

#include "engine/tensors/format.h"

shd_probe_fn shd_probe_pickle;
shd_probe_fn shd_probe_onnx;
shd_probe_fn shd_probe_tflite;
shd_probe_fn shd_probe_html;
shd_probe_fn shd_probe_xml;
bool shd_is_empty(const shd_evidence *e);
