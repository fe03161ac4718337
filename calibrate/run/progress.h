/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a night says while it runs: lines for people, or JSON lines. */

#include "run.h"

struct progress;

int progress_open(bool json, struct progress **ret);
void progress_close(struct progress *progress);

void progress_begin(struct progress *progress, const struct run *run);
void progress_observation(struct progress *progress, const struct run *run,
                          const struct observation *observation);
/* A pass of the gauge is over. */
void progress_pass(struct progress *progress, const struct run *run);
/* The device was given back for @reason; NULL: it goes on. */
void progress_paused(struct progress *progress, const struct run *run, const char *reason);
/* The access point is back, or went and is tried again after @retry_s (INFINITY: not in this night). */
void progress_wifi(struct progress *progress, const struct run *run, bool back, double retry_s);
/* It was asked to stop: what there is, and no profile. */
void progress_interrupted(struct progress *progress, const struct run *run);
/* @fit: the answer of joulecast-fit, or NULL: there is no profile. */
void progress_done(struct progress *progress, const struct run *run, const struct fit_result *fit,
                   const char *profile);
