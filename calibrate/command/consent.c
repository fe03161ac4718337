/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "consent.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "run/refuse.h"
#include "touched.h"
#include "util/text.h"

/* A gauge that does not do what it shows is found out in the night only, and then it is another night. */
static void print_other_way(FILE *file, const struct dry_run *dry_run)
{
        struct run_estimate estimate;

        if (dry_run->options->method != CHOICE_AUTO || dry_run->method == METHOD_PERCENT)
                return;
        estimate = run_estimate(dry_run->description, dry_run->plan, METHOD_PERCENT, dry_run->request);
        text_print(file,
                   "If that gauge cannot be trusted it goes on by percent: about %.1f hours and %.0f %% "
                   "(--method %s does not).",
                   estimate.hours, estimate.percent, observation_method_names[dry_run->method]);
}

static void print_amounts(FILE *file, const struct dry_run *dry_run)
{
        struct run_estimate estimate =
                run_estimate(dry_run->description, dry_run->plan, dry_run->method, dry_run->request);
        char limit[48] = "";

        if (isfinite(dry_run->options->battery_limit_percent))
                snprintf(limit, sizeof(limit), " (at most %g %%)", dry_run->options->battery_limit_percent);
        text_print(file,
                   "It holds this machine in %zu states, one after another, for about %.1f hours, and takes "
                   "about %.0f %% of the battery%s; below %.0f %% of charge it never goes.",
                   dry_run->plan->n, estimate.hours, estimate.percent, limit,
                   refuse_floor_percent(dry_run->description));
        print_other_way(file, dry_run);
}

/*
 * Sixteen frequency policies are not sixteen things to be measured;
 * said before somebody wonders at the hours.
 */
static void print_groups(FILE *file, const struct hardware_description *description)
{
        for (size_t i = 0; i < description->n_policies; i++)
                if (description->policies[i].n_members > 1)
                        text_print(file, "CPUs %s are of one kind and are measured as one.",
                                   description->policies[i].cpus);
}

void consent_print(FILE *file, const struct dry_run *dry_run, const char *when)
{
        struct touched touched;

        touched_list(dry_run, &touched);
        text_print(file, "A calibration of %s by %s, %s.", dry_run->description->device,
                   observation_method_names[dry_run->method], when);
        print_amounts(file, dry_run);
        print_groups(file, dry_run->description);
        text_print(file, "Until it ends, leave the machine alone%s: it pauses when you need it.",
                   dry_run->options->force_discharge ? "" : " and unplugged");
        text_print(file,
                   "Touched meanwhile, and put back however it ends, after a power cut by the next start:");
        touched_print_back(file, &touched);
        text_print(file, "Used or written, and not taken back:");
        touched_print_staying(file, &touched);
}

int consent_needed(const struct options *options)
{
        if (options->yes || options->device)
                return 0;
        return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ? 1 : -ENOTTY;
}

int consent_ask(void)
{
        char answer[16] = "";

        fprintf(stderr, "Start? [y/N] ");
        if (!fgets(answer, sizeof(answer), stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
                return -ECANCELED;
        return 0;
}
