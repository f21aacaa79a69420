#include "commands.h"

#define COMMAND_ADDRESS(name) &cli_command_##name,

const cli_command *const cli_commands[] = {CLI_COMMANDS(COMMAND_ADDRESS) NULL};
