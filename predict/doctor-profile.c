/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the profile for answers: the device's own, or that of the first day. */

#include <errno.h>
#include <string.h>

#include "api/first-day.h"
#include "doctor.h"
#include "model/profile-match.h"
#include "util/util.h"
#include "util/words.h"

static void miss(const char *why, struct findings *findings)
{
        if (findings->model)
                doctor_miss(findings, N_("profile"), "%.150s: %s; run joulecast calibrate. Until then "
                                                     "answers are made by %s (%s)",
                            findings->profile, why, findings->model->device, findings->model_why);
        else if (findings->n_batteries > 0)
                doctor_miss(findings, N_("profile"), "%.150s: %s; run joulecast calibrate", findings->profile, why);
        else
                doctor_miss(findings, N_("profile"), "%.150s: %s; run joulecast profile use class-laptop",
                            findings->profile, why);
}

/* Whoever asks for an answer by it is told which line of it is wrong. */
static int load(const struct options *options, struct findings *findings)
{
        int err = profile_load(findings->profile, NULL, &findings->model);

        if (!err)
                err = first_day_adapt(options->device, options->machine, NULL, &findings->model);
        return err;
}

int doctor_look_at_profile(const struct options *options, struct findings *findings)
{
        _cleanup_free_ char *path = NULL;
        const char *why = NULL;
        int err = open_profile_path(options, &path);

        if (err == -ENOMEM)
                return err;
        snprintf(findings->profile, sizeof(findings->profile), "%s", path ? path : "");
        if (access(findings->profile, R_OK) < 0)
                why = strerror(errno);
        else
                err = load(options, findings);
        if (!why && err)
                return err == -ENOMEM ? err : 0;
        if (!why && !options->profile && !options->device && profile_is_of_another(findings->model, options->machine)) {
                why = _("it was made for another device");
                profile_free(findings->model);
                findings->model = NULL;
        }
        if (!why)
                return 0;
        if (!options->profile && access(findings->profile, F_OK) < 0)
                err = first_day_profile(options->device, options->machine, NULL, findings->model_why,
                                        sizeof(findings->model_why), &findings->model);
        if (err == -ENOMEM)
                return err;
        if (!findings->model)
                findings->model_why[0] = '\0';
        miss(why, findings);
        return 0;
}
