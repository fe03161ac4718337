/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The commands of `joulecast` and joulecast-live. Each gets its own name as argv[0] and returns an exit code. */

int status_main(int argc, char **argv);
int cost_main(int argc, char **argv);
int predict_main(int argc, char **argv);
int budget_main(int argc, char **argv);
int whatif_main(int argc, char **argv);
int advise_main(int argc, char **argv);
int profile_main(int argc, char **argv);
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
int replay_main(int argc, char **argv);
