/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live.h"

#include "program.h"

int live_become(const char *command, char **argv)
{
        return program_become(command, "predict", "joulecast-live", command, argv);
}
