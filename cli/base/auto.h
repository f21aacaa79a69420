/* cli/base/auto.h - handles of the library that are closed at the end of their scope. */
#pragma once

#include <sherd/ckpt.h>
#include <sherd/graph_json.h>
#include <sherd/model.h>
#include <sherd/rows.h>
#include <sherd/verify.h>

#include <stdlib.h>

/* CLI_AUTO(sherd_bundle, sherd_bundle_close) b = NULL; */
#define CLI_AUTO(type, close_fn) __attribute__((cleanup(close_fn##_auto_))) type *
#define CLI_AUTO_DEFINE(type, close_fn)                     \
	static inline void close_fn##_auto_(type *const *p) \
	{                                                   \
		close_fn(*p);                               \
	}

CLI_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
CLI_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
CLI_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)
CLI_AUTO_DEFINE(sherd_graph, sherd_graph_close)
CLI_AUTO_DEFINE(sherd_graph_lines, sherd_graph_lines_close)
CLI_AUTO_DEFINE(sherd_graph_plan, sherd_graph_plan_close)
CLI_AUTO_DEFINE(sherd_model, sherd_model_close)
CLI_AUTO_DEFINE(sherd_report, sherd_report_close)
CLI_AUTO_DEFINE(sherd_rows, sherd_rows_close)
CLI_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)

/* What malloc() gave, whatever it points to. */
static inline void cli_auto_free(void *p)
{
	free(*(void **)p);
}
#define CLI_AUTO_FREE __attribute__((cleanup(cli_auto_free)))
