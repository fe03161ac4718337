/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commands.h"
int advise_main(int argc, char **argv)
{
        return argc + !argv;
}
