/* cli/base/advice.h - which option of the command lets it go on where the library refused.
 *
 * The library knows no options; its messages say what is wrong. The command adds the way out. */
#pragma once

#include "base/args.h"

/* Appends the advice that fits the failure, if the command has the option and it was not given. */
void cli_advise(const cli_args *args, sherd_error *err);
