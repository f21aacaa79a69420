/* cli/commands.h - every command's table. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "base/args.h"

extern const cli_command cli_command_info;
extern const cli_command cli_command_verify;
extern const cli_command cli_command_cat;
extern const cli_command cli_command_convert;
extern const cli_command cli_command_model_info;
extern const cli_command cli_command_model_verify;
extern const cli_command cli_command_model_cat;
extern const cli_command cli_command_model_convert;
extern const cli_command cli_command_model_graph;
extern const cli_command cli_command_model_join;
extern const cli_command cli_command_model_meta;
extern const cli_command cli_command_model_split;
extern const cli_command cli_command_checkpoint_info;
extern const cli_command cli_command_checkpoint_cat;
extern const cli_command cli_command_checkpoint_save;
extern const cli_command cli_command_checkpoint_commit;
extern const cli_command cli_command_checkpoint_wait;
extern const cli_command cli_command_checkpoint_load;
extern const cli_command cli_command_checkpoint_reshard;
extern const cli_command cli_command_checkpoint_verify;
extern const cli_command cli_command_checkpoint_list;
extern const cli_command cli_command_checkpoint_prune;
extern const cli_command cli_command_checkpoint_remove;
extern const cli_command cli_command_checkpoint_repair;
extern const cli_command cli_command_rows_pack;
extern const cli_command cli_command_rows_append;
extern const cli_command cli_command_rows_index;
extern const cli_command cli_command_rows_info;
extern const cli_command cli_command_rows_stream;
extern const cli_command cli_command_rows_gather;
extern const cli_command cli_command_rows_cat;
extern const cli_command cli_command_rows_verify;
extern const cli_command cli_command_graph_create;
extern const cli_command cli_command_graph_import;
extern const cli_command cli_command_graph_export;
extern const cli_command cli_command_graph_node;
extern const cli_command cli_command_graph_find;
extern const cli_command cli_command_graph_out;
extern const cli_command cli_command_graph_in;
extern const cli_command cli_command_graph_neighbours;
extern const cli_command cli_command_graph_walk;
extern const cli_command cli_command_graph_plan;
extern const cli_command cli_command_graph_update;
extern const cli_command cli_command_graph_delete_file;
extern const cli_command cli_command_graph_delete_node;
extern const cli_command cli_command_graph_delete_edge;
extern const cli_command cli_command_graph_stats;
extern const cli_command cli_command_graph_compact;
extern const cli_command cli_command_graph_gc;
extern const cli_command cli_command_graph_repair;
extern const cli_command cli_command_graph_reshard;
extern const cli_command cli_command_graph_versions;
extern const cli_command cli_command_graph_tag;
extern const cli_command cli_command_graph_diff;
extern const cli_command cli_command_graph_verify;

#endif
