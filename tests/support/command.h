/* tests/support/command.h - what another program says. */
#pragma once

/* What the command of the shell prints on both of its outputs, to be free()d; *status: how it ended, -1 by a signal. */
char *command_run(const char *command, int *status);
