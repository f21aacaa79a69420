/* format/rfdb/plan_state.h - the plan from inside, for the files it is made of. */
#pragma once

#include "format/rfdb/plan.h"

struct shd_rfdb_plan_shard {
	const char *name;
	uint32_t next; /* what to try after the name when another directory would get it */
};

struct shd_rfdb_plan_place {
	shd_str directory;
	uint32_t shard;
};

/* The name lies in the plan's arena. *taken: another shard has it, and nothing was added. */
int shd_rfdb_plan_add_shard(shd_rfdb_plan *plan, const char *name, bool *taken, sherd_error *err);
/* Copies the directory. "duplicate-name" when it is assigned already. */
int shd_rfdb_plan_add_place(shd_rfdb_plan *plan, shd_str directory, uint32_t shard, sherd_error *err);
