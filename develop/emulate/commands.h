/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The commands of this room. Each gets its own name as argv[0] and returns an exit code. */

int emulate_main(int argc, char **argv);
int compare_main(int argc, char **argv);
int bench_main(int argc, char **argv);
int whatif_run_main(int argc, char **argv); /* `joulecast whatif RUN` */
