/* sherd/sherd.h - everything, and the version.
 *
 * What a call is made for, its outputs, comes first and is never NULL; then what it works on, its arguments, options, a
 * callback and its arg, results told besides (which may be NULL), and err. Bytes are read into `buf` where pread() has
 * it; callbacks take their arg first; times are nanoseconds since 1970 UTC. */
#ifndef SHERD_SHERD_H
#define SHERD_SHERD_H

#include <sherd/bundle.h>
#include <sherd/ckpt.h>
#include <sherd/convert.h>
#include <sherd/detect.h>
#include <sherd/diff.h>
#include <sherd/dtype.h>
#include <sherd/error.h>
#include <sherd/graph.h>
#include <sherd/graph_json.h>
#include <sherd/guard.h>
#include <sherd/limits.h>
#include <sherd/memory.h>
#include <sherd/model.h>
#include <sherd/model_graph.h>
#include <sherd/name.h>
#include <sherd/number.h>
#include <sherd/pair.h>
#include <sherd/pool.h>
#include <sherd/progress.h>
#include <sherd/rows.h>
#include <sherd/stats.h>
#include <sherd/store.h>
#include <sherd/tensor.h>
#include <sherd/value.h>
#include <sherd/verify.h>
#include <sherd/version.h>

#endif
