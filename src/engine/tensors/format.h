/* engine/tensors/format.h - one entry for each format: how it is known, opened, verified and written.
 *
 * The table (engine/formats.c) is the only list of formats. A format is one entry in the file of its adapter, and its
 * line in the table; a foreign one is a line alone. */
#pragma once

#include "engine/tensors/convert.h"
#include "engine/tensors/evidence.h"
#include "engine/tensors/report.h"

#include <sherd/bundle.h>
#include <sherd/format.h>
#include <sherd/model.h>
#include <sherd/rows.h>

/* Probes return 1 for yes, 0 for no, and fail only when the store does or memory is short. */
typedef int shd_probe_fn(shd_evidence *e, sherd_error *err);

typedef struct shd_format_entry {
	sherd_format_info info;

	/* How an object of it is known, each way enough by itself. By its bytes: */
	shd_str magic;          /* that it begins with */
	const char *zip_entry;  /* a name in its ZIP directory; the end of one where it begins with '/' or '.' */
	const char *zip_ending; /* how all names in its ZIP directory end */
	shd_probe_fn *probe;    /* e->reader is there */
	/* Else by the keys of a JSON object, all of these: */
	const char *keys[2];
	/* Else by its name, damaged as it is; opening it tells where. */
	bool (*is_damaged)(const shd_evidence *e);

	/* How a set or a folder is known, when no object has the key: */
	const char *leaf; /* an object in the folder */
	shd_probe_fn *probe_set;

	/* What is known and cannot be opened: the code and the word for it; 0 for what can. The message is made of noun
	 * and advice, unless there is somebody who knows more. */
	sherd_status refusal;
	const char *reason;
	int (*refuse)(const shd_evidence *e, sherd_error *err);

	/* Each NULL when there is no such thing. The evidence is that which told the format. */
	int (*open)(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err);
	int (*open_model)(sherd_model **out, shd_evidence *e, const sherd_limits *limits, sherd_error *err);
	int (*open_rows)(sherd_rows **out, shd_evidence *e, const sherd_rows_options *options, sherd_error *err);
	/* NULL: by opening, since the format has no checksums. */
	int (*verify)(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
	              sherd_error *err);
	int (*write)(shd_conversion *c, sherd_error *err);
	int (*save_model)(const sherd_model *model, sherd_store *store, const char *key,
	                  const sherd_model_save_options *options, sherd_error *err);
} shd_format_entry;

/* In the order in which they are asked; NULL ends them. */
extern const shd_format_entry *const shd_formats[];

/* Every type of elements. */
#define SHD_DTYPES_ALL ((SHERD_DTYPE_BIT(SHERD_DTYPE_COUNT) - 1) & ~SHERD_DTYPE_BIT(SHERD_DTYPE_NONE))
/* Floats of 8 bits or fewer, which NumPy and Java do not know. */
#define SHD_DTYPES_NARROW                                                                                      \
	(SHERD_DTYPE_BIT(SHERD_F8_E4M3) | SHERD_DTYPE_BIT(SHERD_F8_E5M2) | SHERD_DTYPE_BIT(SHERD_F8_E8M0) |    \
	 SHERD_DTYPE_BIT(SHERD_F8_E4M3FNUZ) | SHERD_DTYPE_BIT(SHERD_F8_E5M2FNUZ) | SHERD_DTYPE_BIT(SHERD_F4) | \
	 SHERD_DTYPE_BIT(SHERD_F6_E2M3) | SHERD_DTYPE_BIT(SHERD_F6_E3M2))

/* NULL for a value that names no format. */
const shd_format_entry *shd_format_entry_of(sherd_format format);

/* Finds out what is there; NULL when nothing fits. Entries with a refusal are found too. */
int shd_format_find(shd_evidence *e, const shd_format_entry **out, sherd_error *err);
/* The same, but refuses what cannot be opened, and what nothing fits. */
int shd_format_require(shd_evidence *e, const shd_format_entry **out, sherd_error *err);
/* The second half of it: refuses what was found, NULL or not, if it cannot be opened. */
int shd_format_check(const shd_evidence *e, sherd_error *err);
