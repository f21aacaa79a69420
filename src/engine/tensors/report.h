/* engine/tensors/report.h - collecting what a check found. */
#pragma once

#include "base/buf.h"

#include <sherd/verify.h>

struct sherd_report {
	SHD_VEC(sherd_error) errors, warnings;
	uint64_t checked;
};

/* Empties it, but for what was checked. */
void shd_report_done(sherd_report *r);

int shd_report_new(sherd_report **out, sherd_error *err);

/* Takes a failure about the data into the report, and goes on: returns SHERD_OK then. What is not about the data (I/O,
 * memory, cancelling) is returned unchanged. key names the object where the failure does not. */
int shd_report_take(sherd_report *r, int rc, const sherd_error *found, const char *key, sherd_error *err);
__attribute__((format(printf, 5, 6))) int shd_report_warn(sherd_report *r, const char *key, const char *reason,
                                                          sherd_error *err, const char *fmt, ...);
__attribute__((format(printf, 6, 7))) int shd_report_warn_at(sherd_report *r, const char *key, const char *reason,
                                                             uint64_t offset, sherd_error *err, const char *fmt, ...);
/* Appends what another one found, and empties it. */
int shd_report_merge(sherd_report *into, sherd_report *from, sherd_error *err);
