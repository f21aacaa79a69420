/* cli/commands.h - every command, in the order in which sherd help lists them.
 *
 * A command is a table, cli_command_<name>, in the file of its group; its line here makes it known. */
#pragma once

#include "base/args.h"

/* Those of a build that has more: -D'CLI_MORE_COMMANDS(X)=X(name)'. */
#ifndef CLI_MORE_COMMANDS
#define CLI_MORE_COMMANDS(X)
#endif

#define CLI_COMMANDS(X)       \
	X(info)               \
	X(verify)             \
	X(cat)                \
	X(convert)            \
	X(diff)               \
	X(stats)              \
	X(report)             \
	X(checkpoint_save)    \
	X(checkpoint_commit)  \
	X(checkpoint_wait)    \
	X(checkpoint_load)    \
	X(checkpoint_reshard) \
	X(checkpoint_info)    \
	X(checkpoint_cat)     \
	X(checkpoint_verify)  \
	X(checkpoint_list)    \
	X(checkpoint_prune)   \
	X(checkpoint_remove)  \
	X(checkpoint_repair)  \
	X(rows_pack)          \
	X(rows_append)        \
	X(rows_index)         \
	X(rows_info)          \
	X(rows_stream)        \
	X(rows_gather)        \
	X(rows_cat)           \
	X(rows_verify)        \
	X(graph_create)       \
	X(graph_import)       \
	X(graph_export)       \
	X(graph_node)         \
	X(graph_find)         \
	X(graph_out)          \
	X(graph_in)           \
	X(graph_neighbours)   \
	X(graph_walk)         \
	X(graph_plan)         \
	X(graph_update)       \
	X(graph_delete_file)  \
	X(graph_delete_node)  \
	X(graph_delete_edge)  \
	X(graph_stats)        \
	X(graph_compact)      \
	X(graph_gc)           \
	X(graph_repair)       \
	X(graph_reshard)      \
	X(graph_versions)     \
	X(graph_tag)          \
	X(graph_diff)         \
	X(graph_push)         \
	X(graph_pull)         \
	X(graph_verify)       \
	X(model_info)         \
	X(model_verify)       \
	X(model_cat)          \
	X(model_convert)      \
	X(model_graph)        \
	X(model_meta)         \
	X(model_split)        \
	X(model_join)         \
	CLI_MORE_COMMANDS(X)

#define CLI_COMMAND_DECLARE(name) extern const cli_command cli_command_##name;
CLI_COMMANDS(CLI_COMMAND_DECLARE)
#undef CLI_COMMAND_DECLARE

/* All of them; NULL ends them. */
extern const cli_command *const cli_commands[];
