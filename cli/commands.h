/* cli/commands.h - every command's table. */
#ifndef SHERD_CLI_COMMANDS_H
#define SHERD_CLI_COMMANDS_H

#include "args.h"

extern const sherd_command sherd_command_info;
extern const sherd_command sherd_command_verify;
extern const sherd_command sherd_command_cat;
extern const sherd_command sherd_command_convert;
extern const sherd_command sherd_command_model_info;
extern const sherd_command sherd_command_model_verify;
extern const sherd_command sherd_command_model_cat;
extern const sherd_command sherd_command_model_convert;
extern const sherd_command sherd_command_model_graph;
extern const sherd_command sherd_command_model_join;
extern const sherd_command sherd_command_model_meta;
extern const sherd_command sherd_command_model_split;
extern const sherd_command sherd_command_checkpoint_save;
extern const sherd_command sherd_command_checkpoint_commit;
extern const sherd_command sherd_command_checkpoint_load;
extern const sherd_command sherd_command_checkpoint_reshard;
extern const sherd_command sherd_command_checkpoint_verify;
extern const sherd_command sherd_command_checkpoint_list;
extern const sherd_command sherd_command_checkpoint_prune;
extern const sherd_command sherd_command_checkpoint_remove;
extern const sherd_command sherd_command_checkpoint_repair;
extern const sherd_command sherd_command_rows_pack;
extern const sherd_command sherd_command_rows_info;
extern const sherd_command sherd_command_rows_stream;
extern const sherd_command sherd_command_rows_cat;
extern const sherd_command sherd_command_rows_verify;
extern const sherd_command sherd_command_graph_create;
extern const sherd_command sherd_command_graph_import;
extern const sherd_command sherd_command_graph_export;
extern const sherd_command sherd_command_graph_node;
extern const sherd_command sherd_command_graph_find;
extern const sherd_command sherd_command_graph_out;
extern const sherd_command sherd_command_graph_in;
extern const sherd_command sherd_command_graph_update;
extern const sherd_command sherd_command_graph_delete_file;
extern const sherd_command sherd_command_graph_stats;
extern const sherd_command sherd_command_graph_compact;
extern const sherd_command sherd_command_graph_gc;
extern const sherd_command sherd_command_graph_reshard;
extern const sherd_command sherd_command_graph_versions;
extern const sherd_command sherd_command_graph_tag;
extern const sherd_command sherd_command_graph_diff;
extern const sherd_command sherd_command_graph_verify;

#endif
