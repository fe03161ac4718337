/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/* The commands of `joulecast`. Each gets its own name as argv[0] and returns an exit code. */

/* Replaces this process by the program of a command; an exit code after its sentence. argv[0] is replaced. */
int main_become(const char *name, char **argv);

int status_main(int argc, char **argv);
int cost_main(int argc, char **argv);
int predict_main(int argc, char **argv);
int budget_main(int argc, char **argv);
int whatif_main(int argc, char **argv);
/* Is the word a run of `joulecast emulate -o`? Then whatif_run_main() has the rest of the line. */
bool whatif_is_run(const char *word);
int whatif_run_main(int argc, char **argv);
int advise_main(int argc, char **argv);
int profile_main(int argc, char **argv);
int diff_main(int argc, char **argv);
int doctor_main(int argc, char **argv);
int simulate_main(int argc, char **argv);
int warn_main(int argc, char **argv);
int limit_main(int argc, char **argv);
int top_main(int argc, char **argv);
int trace_main(int argc, char **argv);
int metrics_main(int argc, char **argv);
int report_main(int argc, char **argv);
int usage_main(int argc, char **argv);
int apps_main(int argc, char **argv);
int forget_main(int argc, char **argv);
int price_packets_main(int argc, char **argv);
int emulate_main(int argc, char **argv);
int compare_main(int argc, char **argv);
int bench_main(int argc, char **argv);
