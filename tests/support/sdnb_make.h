/* tests/support/sdnb_make.h - a model with something of everything that SDNB files hold. */
#pragma once

#include "base/buf.h"

#include <sherd/model.h>

/* Two arrays of more than 1 MiB that lie behind the graph, small ones inside of it: in Fortran order, empty, a scalar,
 * those of an updater and of an operation. seed tells one sample from another. With small, no array is above 1 KiB. */
sherd_model *sdnb_sample(unsigned seed, bool small);
/* NULL when the model holds what the sample does; else what differs. Files forget which arrays were in Fortran order
 * when they lie behind the graph. */
const char *sdnb_sample_difference(const sherd_model *model, unsigned seed, bool small);

/* An archive with one entry of these bytes, compressed by deflate. */
void sdnb_put_deflated(shd_buf *out, const char *name, const uint8_t *data, size_t len);
