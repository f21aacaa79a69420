/* tests/support/fixtures.h - genuine files of other programs, which may lie beside the checkout. */
#pragma once

/* Their folder. Where there is none the running case ends as skipped: ask before anything is made. */
const char *fixtures_folder(void);
