/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/service.h"
#include "fuzz.h"
#include "socket.h"
#include "util/util.h"

static void check_words(void *data, enum log_level level, const char *sentence)
{
        char plain[4096];

        fuzz_assert(strcmp(util_printable(sentence, plain, sizeof(plain)), sentence) == 0);
}

static void check_cost(int err, struct cost *cost)
{
        fuzz_assert(err <= 0 && (err == 0) == (cost != NULL));
        for (size_t i = 0; cost && i < cost->n_apps; i++)
                fuzz_assert(cost->apps[i].name && strlen(cost->apps[i].app) < sizeof(cost->apps[i].app));
        cost_free(cost);
}

/* Changes: of advice, of a plan and of a question. */
static void ask_change(struct joulecast_usage *usage, char question)
{
        const struct endure_goal goal = { .minutes = 300, .battery_percent = 50 };
        const struct changes changes = CHANGES_NONE;
        struct endurance plan = { 0 };
        struct advice_list list = { 0 };
        struct gain gain = { 0 };

        if (question == 'd' && service_advise(usage, NULL, &list) == 0)
                for (size_t i = 0; i < list.n; i++)
                        fuzz_assert(list.n <= ADVICE_MAX && list.list[i].kind < ADVICE_KINDS);
        if (question == 'g' && service_gain(usage, NULL, &changes, &gain) == 0)
                for (size_t i = 0; i < gain.n_apps; i++)
                        fuzz_assert(gain.n_apps <= CHANGE_APPS_MAX && *gain.apps[i]);
        if (question == 'n' && service_endure(usage, NULL, &goal, &plan) == 0)
                for (size_t i = 0; i < plan.n; i++)
                        fuzz_assert(plan.n <= ENDURE_CHANGES_MAX && plan.list[i].kind < ENDURE_KINDS);
}

static void ask(struct joulecast_usage *usage, char question)
{
        const struct budget_plan plan = { .app = "a", .keep_percent = 20, .battery_percent = 50 };
        struct forecast forecast = { 0 };
        struct budget budget = { 0 };
        struct cost *cost = NULL;
        int64_t from_ns = 0, to_ns = 0;
        double percent = 0;
        int plugged = 0, err;

        switch (question) {
        case 'a':
                err = service_apps(usage, &cost);
                check_cost(err, cost);
                break;
        case 'b':
                service_budget(usage, NULL, &plan, &budget);
                fuzz_assert(strlen(budget.app) < sizeof(budget.app));
                break;
        case 'c':
                err = service_cost(usage, NULL, INT64_MIN, INT64_MAX, &cost);
                check_cost(err, cost);
                break;
        case 'e':
                if (service_battery(usage, &percent, &plugged) == 0)
                        fuzz_assert(plugged >= -1 && plugged <= 1);
                break;
        case 'p':
                service_forecast(usage, NULL, "a", 10, &forecast);
                fuzz_assert(strlen(forecast.app) < sizeof(forecast.app));
                break;
        case 's':
                service_span(usage, &from_ns, &to_ns);
                break;
        case 't':
                service_since(usage, JOULECAST_SINCE_UNPLUG, &from_ns);
                break;
        default:
                ask_change(usage, question);
                break;
        }
}

/* The library's parsers of the service's answers; the first byte selects the question. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct fuzz_socket service;
        struct joulecast_context context = { .log = { .handler = check_words } };
        struct joulecast_usage usage = { .context = &context, .service = service.path, .uid = -1 };

        if (size == 0)
                return 0;
        if (!*service.path) {
                fuzz_listen(&service, "a");
                fuzz_start_answering(&service);
        }
        service.answer = data + 1;
        service.size = size - 1;
        ask(&usage, (char)data[0]);
        return 0;
}
