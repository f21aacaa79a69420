#include "cli.h"

#include <stdarg.h>
#include <stdio.h>

int sherd_cli_status(sherd_status code)
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
	case SHERD_ENOMEM: return EXIT_SYSTEM;
	case SHERD_ECANCELLED: return EXIT_INTERRUPTED;
	}
	return EXIT_SYSTEM;
}

static int fill(sherd_error *err, sherd_status code, const char *reason, const char *fmt, va_list ap)
{
	*err = (sherd_error){.code = code, .reason = reason, .offset = SHERD_NO_OFFSET};
	(void)vsnprintf(err->message, sizeof(err->message), fmt, ap);
	return code;
}

int sherd_cli_fail(sherd_error *err, sherd_status code, const char *reason, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int rc = fill(err, code, reason, fmt, ap);
	va_end(ap);
	return rc;
}

int sherd_cli_no_memory(sherd_error *err)
{
	return sherd_cli_fail(err, SHERD_ENOMEM, "no-memory", "out of memory");
}

int sherd_cli_usage(sherd_error *err, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int rc = fill(err, SHERD_EINVAL, "usage", fmt, ap);
	va_end(ap);
	return rc;
}
