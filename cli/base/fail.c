#include "cli.h"

#include <stdarg.h>
#include <stdio.h>

int cli_status(sherd_status code)
{
	switch (code) {
	case SHERD_OK: return EXIT_FINE;
	case SHERD_ECORRUPT:
	case SHERD_EINCOMPLETE:
	case SHERD_EUNSUPPORTED:
	case SHERD_EVERSION:
	case SHERD_ELIMIT: return EXIT_BAD_DATA;
	case SHERD_EINVAL: return EXIT_USAGE;
	case SHERD_ENOTFOUND:
	case SHERD_EEXIST:
	case SHERD_ECONFLICT: return EXIT_MISSING;
	case SHERD_EIO:
	case SHERD_EUNKNOWN:
	case SHERD_ENOMEM: return EXIT_SYSTEM;
	case SHERD_ECANCELLED: return EXIT_INTERRUPTED;
	}
	return EXIT_SYSTEM;
}

void cli_fill(sherd_error *err, sherd_status code, const char *reason, const char *fmt, ...)
{
	va_list ap;
	*err = (sherd_error){.code = code, .reason = reason, .offset = SHERD_NO_OFFSET, .index = SHERD_NO_INDEX};
	va_start(ap, fmt);
	(void)vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
}
