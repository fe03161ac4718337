/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "consent.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "run/refuse.h"
#include "touched.h"
#include "util/agree.h"
#include "util/text.h"
#include "util/words.h"

const char *consent_basis(const struct prospect *prospect)
{
        const struct profile *model = prospect->plan->model;

        if (!model)
                return _("That is a guess: no profile says how much such a device uses.");
        if (strcmp(model->method, "class") == 0)
                return _("That is what a usual device of its class uses.");
        return _("That is by its present profile.");
}

/* A bad gauge is found only during the run; measuring by percent then takes much longer. */
static int print_other_way(FILE *file, const struct prospect *prospect)
{
        char expected[ESTIMATE_TEXT_MAX];
        struct run_estimate estimate;
        int err;

        if (prospect->options->method != CHOICE_AUTO || prospect->method == METHOD_PERCENT)
                return 0;
        err = run_estimate(prospect->description, prospect->plan, METHOD_PERCENT, prospect->request, &estimate);
        if (err)
                return err;
        text_print(file,
                   _("If that gauge turns out to be unreliable, the calibration goes on by percent: about "
                   "%s; --method %s prevents this."),
                   estimate_text(&estimate, expected), observation_method_names[prospect->method]);
        return 0;
}

static int print_amounts(FILE *file, const struct prospect *prospect)
{
        struct run_estimate estimate;
        int err = run_estimate(prospect->description, prospect->plan, prospect->method, prospect->request, &estimate);
        char limit[48] = "", expected[ESTIMATE_TEXT_MAX];

        if (err)
                return err;
        if (isfinite(prospect->options->battery_limit_percent))
                snprintf(limit, sizeof(limit), _(" (at most %g %%)"), prospect->options->battery_limit_percent);
        text_print(file,
                   words_counted("It holds this machine in %zu state and takes about %s%s. %s It ends at %.0f %% of "
                                 "charge at the latest.",
                                 "It holds this machine in %zu states, one after another, and takes about %s%s. %s It "
                                 "ends at %.0f %% of charge at the latest.", prospect->plan->n),
                   prospect->plan->n, estimate_text(&estimate, expected), limit, consent_basis(prospect),
                   refuse_floor_percent(prospect->description));
        return print_other_way(file, prospect);
}

/* Explains why sixteen frequency policies are not measured one by one. */
static void print_groups(FILE *file, const struct hardware_description *description)
{
        for (size_t i = 0; i < description->n_policies; i++)
                if (description->policies[i].n_members > 1)
                        text_print(file, _("CPUs %s are of one kind and are measured together."),
                                   description->policies[i].cpus);
}

int consent_print(FILE *file, const struct prospect *prospect, const char *when)
{
        char plan[PLAN_NAME_MAX];
        struct touched touched;
        int err;

        touched_list(prospect, &touched);
        plan_name(prospect->plan, plan);
        text_print(file, _("A calibration of %s by %s%s%s, %s."), prospect->description->device,
                   observation_method_names[prospect->method], prospect->plan->only ? ", " : "",
                   prospect->plan->only ? plan : "", when);
        err = print_amounts(file, prospect);
        if (err)
                return err;
        print_groups(file, prospect->description);
        text_print(file, prospect->options->force_discharge ?
                   _("Until it ends, leave the machine alone: it pauses when you need it.")
                                                      : _("Until it ends, leave the machine alone and "
                                                          "unplugged: it pauses when you need it."));
        text_print(file,
                   _("Changed meanwhile, and restored however it ends (after a power cut by the next start):"));
        touched_print_back(file, &touched);
        text_print(file, _("Used or written permanently:"));
        touched_print_staying(file, &touched);
        return 0;
}

int consent_needed(const struct options *options)
{
        if (options->yes || options->device)
                return 0;
        return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ? 1 : -ENOTTY;
}

int consent_ask(void)
{
        return agree_ask(stderr, _("Start?")) ? 0 : -ECANCELED;
}
