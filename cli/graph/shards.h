/* cli/graph/shards.h - the shards of a graph: a table for people, values for --json, and how they are balanced. */
#pragma once

#include "graph/db.h"
#include "base/doc.h"

/* Columns for each shard; with a bar that shows its share of the nodes when standard output is a terminal and bars are
 * wanted. */
int cli_shards_print(cli_state *cli, const cli_db *db, uint32_t count, bool bars, sherd_error *err);
/* The key "shards" and its array. */
int cli_shards_put(cli_doc *doc, const cli_db *db, uint32_t count, sherd_error *err);

/* 1 and what is to be said about the fullest shard when it holds more than ten times the nodes of the median (counted
 * as 1 where most are empty, so that a handful of nodes is no imbalance), else 0. */
int cli_shards_balance(const cli_db *db, uint32_t count, sherd_error *warning, sherd_error *err);
