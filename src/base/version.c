#include <sherd/version.h>

const char *sherd_version(void)
{
	return SHERD_VERSION;
}
