/* engine/tensors/foreign.h - how formats of others are known that neither begin with a magic nor are archives. */
#ifndef SHERD_ENGINE_TENSORS_FOREIGN_H
#define SHERD_ENGINE_TENSORS_FOREIGN_H

#include "engine/tensors/format.h"

sherd_probe_fn sherd_probe_npz;
sherd_probe_fn sherd_probe_pickle;
sherd_probe_fn sherd_probe_onnx;
sherd_probe_fn sherd_probe_tflite;
sherd_probe_fn sherd_probe_html;
sherd_probe_fn sherd_probe_xml;
bool sherd_is_empty(const sherd_evidence *e);

#endif
