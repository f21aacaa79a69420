/* cli/topics.h - what sherd help tells beside commands. */
#pragma once

#include "base/out.h"

typedef struct cli_topic {
	const char *name;
	const char *summary;
	void (*print)(cli_out *out);
} cli_topic;

/* All of them; one without a name ends them. */
extern const cli_topic cli_topics[];
/* NULL when there is none of that name. */
const cli_topic *cli_topic_find(const char *name);
