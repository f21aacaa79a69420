/* cli/tensors/plot.h - how values are distributed, as a small plot. */
#pragma once

#include "cli.h"

#include <sherd/stats.h>

/* The tensor's line, and below it a plot of its bins. */
void cli_plot_print(cli_out *out, const sherd_tensor *tensor, const sherd_stats *stats);
