/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The public API: context and profile. */

#include "joulecast.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "first-day.h"
#include "joulecast-private.h"
#include "model/model.h"
#include "model/profile-keys.h"
#include "model/profile-match.h"
#include "util/ini-text.h"
#include "util/paths.h"
#include "util/quantile.h"
#include "util/util.h"

/* The public levels are fewer. */
static void pass_on(void *data, enum log_level level, const char *sentence)
{
        struct joulecast_context *context = data;
        enum joulecast_level public = level == LOG_LEVEL_ERROR ? JOULECAST_ERROR :
                                      level == LOG_LEVEL_INFO  ? JOULECAST_INFO :
                                                                 JOULECAST_WARNING;

        if (context->handler && level != LOG_LEVEL_DEBUG)
                context->handler(context->data, public, sentence);
}

JOULECAST_EXPORT int joulecast_context_new(struct joulecast_context **ret)
{
        struct joulecast_context *context = calloc(1, sizeof(*context));

        if (!context)
                return -ENOMEM;
        context->log = (struct log){ .handler = pass_on, .data = context };
        *ret = context;
        return 0;
}

JOULECAST_EXPORT void joulecast_context_free(struct joulecast_context *context)
{
        if (!context)
                return;
        free(context->device);
        free(context->machine);
        free(context);
}

JOULECAST_EXPORT void joulecast_context_set_log(struct joulecast_context *context,
                                                joulecast_log_handler handler, void *data)
{
        context->handler = handler;
        context->data = data;
}

static int replace(char **text, const char *with)
{
        char *copy = with ? strdup(with) : NULL;

        if (with && !copy)
                return -ENOMEM;
        free(*text);
        *text = copy;
        return 0;
}

JOULECAST_EXPORT int joulecast_context_set_device(struct joulecast_context *context, const char *device)
{
        if (device && (!paths_virtual(device) || !*paths_virtual(device)))
                return -EINVAL;
        return replace(&context->device, device);
}

JOULECAST_EXPORT int joulecast_context_set_machine(struct joulecast_context *context, const char *folder)
{
        return replace(&context->machine, folder);
}

JOULECAST_EXPORT void joulecast_profile_free(struct joulecast_profile *profile)
{
        if (!profile)
                return;
        profile_free(profile->profile);
        free(profile->keys);
        free(profile);
}

DEFINE_CLEANUP(struct joulecast_profile, joulecast_profile_free)

int api_no_path(const struct joulecast_context *context, int err)
{
        char device[128];

        if (err == -ENOMEM)
                return err;
        if (context->device)
                log_error(&context->log, "%s: %s", util_printable(context->device, device, sizeof(device)),
                          ini_text_error(err));
        else
                log_error(&context->log, "there is no home folder to look in; give a path");
        return err;
}

JOULECAST_EXPORT int joulecast_profile_load(struct joulecast_context *context, const char *path,
                                            struct joulecast_profile **ret)
{
        _cleanup_(joulecast_profile_freep) struct joulecast_profile *profile = calloc(1, sizeof(*profile));
        _cleanup_free_ char *found = NULL;
        int err = 0;

        if (!profile)
                return -ENOMEM;
        if (!path) {
                err = paths_profile(context->device, false, &found);
                path = found;
        }
        if (err < 0)
                return api_no_path(context, err);
        if (found && access(found, F_OK) < 0 && errno == ENOENT)
                err = first_day_profile(context->device, context->machine, &context->log, NULL, 0, &profile->profile);
        else
                err = profile_load(path, &context->log, &profile->profile);
        if (!err)
                err = first_day_adapt(context->device, context->machine, &context->log, &profile->profile);
        if (err < 0)
                return err;
        if (found && !context->device && profile_is_of_another(profile->profile, context->machine)) {
                log_error(&context->log, "%s was made for another device (match = %s); name it, or run "
                                         "joulecast calibrate",
                          path, profile->profile->match);
                return -ENODEV;
        }
        profile->context = context;
        profile->id = ++context->last_id;
        profile->keys = calloc(profile->profile->n_coefficients + 1, sizeof(*profile->keys));
        if (!profile->keys)
                return -ENOMEM;
        for (size_t i = 0; i < profile->profile->n_coefficients; i++)
                profile_coefficient_key(&profile->profile->coefficients[i], profile->keys[i]);
        *ret = TAKE_PTR(profile);
        return 0;
}

JOULECAST_EXPORT const char *joulecast_profile_device(const struct joulecast_profile *profile)
{
        return profile->profile->device;
}

JOULECAST_EXPORT const char *joulecast_profile_method(const struct joulecast_profile *profile)
{
        return profile->profile->method;
}

JOULECAST_EXPORT int joulecast_profile_validated(const struct joulecast_profile *profile)
{
        return profile_validated(profile->profile);
}

JOULECAST_EXPORT const char *joulecast_profile_basis(const struct joulecast_profile *profile)
{
        return profile_basis(profile->profile);
}

JOULECAST_EXPORT double joulecast_profile_energy_full_mwh(const struct joulecast_profile *profile)
{
        return profile->profile->energy_full_mwh;
}

JOULECAST_EXPORT size_t joulecast_profile_count(const struct joulecast_profile *profile)
{
        return profile->profile->n_coefficients;
}

JOULECAST_EXPORT int joulecast_profile_coefficient(const struct joulecast_profile *profile, size_t index,
                                                   struct joulecast_coefficient *ret)
{
        const struct coefficient *c;
        double half;

        if (index >= profile->profile->n_coefficients)
                return -ERANGE;
        c = &profile->profile->coefficients[index];
        half = quantile_student_t(profile->profile->degrees_of_freedom, COST_LEVEL) * c->standard_error;
        *ret = (struct joulecast_coefficient){
                .key = profile->keys[index],
                .unit = term_keys[c->term].unit,
                .value = c->value,
                .standard_error = c->standard_error,
                .low = isnan(half) ? NAN : fmax(c->value - half, profile_least(c->term)),
                .high = c->value + half,
        };
        return 0;
}
