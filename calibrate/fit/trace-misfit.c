/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace-misfit.h"

#include <math.h>
#include <string.h>

#include "model/kind.h"
#include "util/tuning.h"

double trace_misfit_percent(const struct outcome *outcome)
{
        ssize_t at = profile_find(outcome->profile, TERM_BASE, 0, 0, "");
        double base_mw = at < 0 ? 0 : outcome->profile->coefficients[at].value, squares = 0, rows = 0;

        for (size_t i = 0; i < outcome->n_modes; i++) {
                const struct outcome_mode *mode = &outcome->modes[i];
                double load_mw = fmax(mode->power_mw - base_mw, 0.1 * mode->power_mw);

                squares += (double)mode->n * pow(mode->residual_mw / load_mw, 2);
                rows += (double)mode->n;
        }
        return rows > 0 ? fmin(round(1000 * sqrt(squares / rows)) / 10, 100) : 0;
}

/* The usual belief about the CPU weighs as much as this many apps (prior of a scaled inverse chi square). */
#define CPU_BELIEF 4.0

/* Combines @usual, which weighs as @belief apps, with @seen of @n apps. */
static double believed(double usual, double belief, double seen, double n)
{
        return sqrt((belief * usual * usual + n * seen * seen) / (belief + n));
}

void trace_misfits(struct outcome *outcome)
{
        struct profile_learned *learned = &outcome->profile->learned;
        double squares = 0, n = 0, relative = trace_misfit_percent(outcome), seen_mw, usual;

        for (size_t i = 0; i < outcome->n_modes; i++) {
                const struct outcome_mode *mode = &outcome->modes[i];

                if (strcmp(mode->mode, "idle") == 0 || strcmp(mode->mode, "base") == 0)
                        continue;
                squares += pow(mode->residual_mw, 2);
                n++;
        }
        if (n < 2)
                return;
        seen_mw = sqrt(squares / n);
        usual = kind_left_percent(outcome->profile, TUNING_MISFIT_CPU_PERCENT, TUNING_MISFIT_INSTRUCTIONS_PERCENT,
                                  TUNING_MISFIT_KIND_PERCENT);
        learned->misfit_cpu_percent = believed(usual, CPU_BELIEF, relative, n - 1);
        learned->misfit_display_percent = believed(TUNING_MISFIT_DISPLAY_PERCENT, 1, relative, n);
        learned->misfit_front_mw = believed(TUNING_MISFIT_FRONT_MW, 1, seen_mw, n);
        learned->misfit_behind_mw = fmin(learned->misfit_front_mw, TUNING_MISFIT_BEHIND_MW);
}
