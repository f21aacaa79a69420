#include "support/fixtures.h"

#include "support/test.h"

#include <stdlib.h>

const char *fixtures_folder(void)
{
	const char *folder = getenv("SHERD_FIXTURES");
	if (!folder || !*folder)
		skip();
	return folder;
}
