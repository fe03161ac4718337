/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>

#include "answer/options.h"
#include "player.h"

int stage_display(struct child_place *place, struct stage **ret)
{
        log_error(&program_log, "this build plays no input into windows: it was made without libxtst; "
                                "--terminal plays into a terminal");
        return -ENOTSUP;
}
