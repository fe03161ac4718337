/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Estimates a run before it starts: each state of its plan for as long as it lasts, at its expected power. */

#include "run.h"

#include <errno.h>
#include <math.h>

#include "refuse.h"
#include "util/util.h"

/*
 * Number of observations by level that reach --stop 3%, and the factors of the fewest and the most: measured on the
 * shipped virtual devices (docs/calibration.md). By percent there is a maximum. At another precision the number changes
 * with PRECISION_POWER.
 */
#define AT_3_PERCENT 24.0
#define FEWER 0.8
#define MOST_AT_3_PERCENT 24.0
#define PRECISION_POWER 1.25
#define TICKS_AT_3_PERCENT 84.0
#define TICKS_FEWER 0.7
#define TICKS_MORE 1.7

/* Observations with --only, relative to the block: the usual number by percent, and the most; ticks are shorter. */
#define ONLY_USUAL 1.3
#define ONLY_MOST 2.0
#define ONLY_MOST_TICKS 4.0
#define ONLY_LEAST 4.0 /* observations that the base alone needs */

/* Number of times that a doubted held-back state is measured again. */
#define AGAIN 2

/* A gauge must be fine enough for this number of observations. */
#define ROWS_MIN 22.0

/* Shortest and longest update period of a gauge that is not known yet. */
#define GAUGE_PERIOD_FAST_S 0.1
#define GAUGE_PERIOD_SLOW_S 10.0

/* Charge of a dwell by ticks, with steps of a usual size, while the level is not known. */
#define TICKS_GUESS_PERCENT 0.2

/* Relative uncertainty from pauses, other programs and the battery's own error. */
#define SURPRISE 0.06

static bool in_block(const struct planned_mode *mode)
{
        return mode->visits_max > 0 && (mode->role == ROLE_BLOCK || mode->role == ROLE_HELD_BACK);
}

double run_block_percent(const struct run *run, double step_percent, double least_s)
{
        double sum = 0, rows = (double)MAX(plan_block(&run->plan), (size_t)1);

        for (size_t i = 0; i < run->plan.n; i++)
                if (in_block(&run->plan.modes[i]))
                        sum += fmax(step_percent,
                                    least_s * run->plan.modes[i].guess_w / plan_percent_j(&run->description));
        /* A short block alone gives wide intervals, so at least ROWS_MIN rows count. */
        return run->plan.brief ? sum * fmax(ROWS_MIN / rows, 1) : sum;
}

/* The error falls with the square root of the number of observations. */
static double precision_cost(const struct run_request *request)
{
        return 9 / (request->stop_percent * request->stop_percent);
}

static double observations_max(const struct plan *plan, enum observation_method method,
                               const struct run_request *request)
{
        double only = method == METHOD_TICKS ? ONLY_MOST_TICKS : ONLY_MOST;

        if (plan->only)
                return fmax(only * (double)plan_block(plan), ONLY_LEAST) * precision_cost(request);
        return MOST_AT_3_PERCENT * precision_cost(request);
}

double run_observations_max(const struct run *run)
{
        return observations_max(&run->plan, run->method, &run->request);
}

static double packet_states(const struct plan *plan)
{
        double n = 0;

        for (size_t i = 0; i < plan->n; i++)
                n += plan->modes[i].role == ROLE_BLOCK && plan->modes[i].mode.packets_per_s > 0;
        return n;
}

double run_observations_usual(const struct plan *plan, enum observation_method method,
                              const struct run_request *request)
{
        double block = (double)plan_block(plan), n = packet_states(plan);

        if (plan->only)
                return fmax(ONLY_USUAL * block, ONLY_LEAST) * precision_cost(request);
        if (method == METHOD_TICKS)
                n += TICKS_AT_3_PERCENT * precision_cost(request);
        else
                n += AT_3_PERCENT * pow(3 / request->stop_percent, PRECISION_POWER);
        return fmax(n, block);
}

/* By percent, idle takes longest and is only in the block: from runs on the shipped virtual devices. */
double run_chosen_share(enum observation_method method)
{
        return method == METHOD_PERCENT ? 0.65 : 1;
}

/* Duration of each mode in a whole run, and the factors (fewer, more) by which the whole may be less or more. */
struct course {
        double *seconds;
        double observations, fewer, more;
        double tested; /* percents of the scatter test, which comes first */
};

static void course_clear(struct course *course)
{
        free(course->seconds);
}

static double course_s(const struct plan *plan, const struct course *course)
{
        double sum = 0;

        for (size_t i = 0; i < plan->n; i++)
                sum += course->seconds[i];
        return sum;
}

/* One dwell, and the wait that the gauge of an earlier run needs in each. */
static double dwell_s(const struct plan *plan, const struct run_request *request, double period_s, size_t mode)
{
        return step_test_wait_s(&request->kernel, period_s) +
               runner_mode_s(&plan->modes[mode].mode, period_s, request->daemons_tau_s);
}

/* Every dwell of each pass, in the order in which they come. */
static double passes_s(const struct plan *plan, const struct run_request *request, double period_s, size_t *order,
                       struct course *course)
{
        double rest_s, load_s;

        runner_step_test_s(period_s, &rest_s, &load_s);
        if (plan->only && request->kernel.kind != GAUGE_UNTESTED)
                rest_s = load_s = 0;
        course->observations = 0;
        for (size_t i = 0; i < plan->n; i++)
                course->seconds[i] = i == plan->burn  ? runner_learn_s(period_s) + load_s
                                     : i == PLAN_IDLE ? rest_s
                                                      : 0;
        for (uint32_t pass = 0; pass < request->passes; pass++) {
                size_t n = plan_order(plan, request->seed, pass, SIZE_MAX, true, order);

                for (size_t i = 0; i < n; i++)
                        course->seconds[order[i]] += dwell_s(plan, request, period_s, order[i]);
                course->observations += (double)n;
        }
        return course_s(plan, course);
}

/* Time of measuring all held-back states again, each after idle, in case all are doubted. */
static double doubts_s(const struct plan *plan, const struct run_request *request, double period_s)
{
        double idle_s = dwell_s(plan, request, period_s, PLAN_IDLE), sum = 0;

        for (size_t i = 0; i < plan->n; i++)
                if (plan->modes[i].role == ROLE_HELD_BACK && plan->modes[i].visits_max > 0)
                        sum += AGAIN * (idle_s + dwell_s(plan, request, period_s, i));
        return sum;
}

static int course_by_gauge(const struct plan *plan, const struct run_request *request, struct course *course)
{
        _cleanup_free_ size_t *order = calloc(plan->n + PLAN_IDLES, sizeof(*order));
        bool known = request->gauge_period_s > 0;
        double period_s = known ? request->gauge_period_s : GAUGE_PERIOD_GUESS_S;
        double fast_s, slow_s, usual_s;

        if (!order)
                return -ENOMEM;
        fast_s = passes_s(plan, request, known ? period_s : GAUGE_PERIOD_FAST_S, order, course);
        slow_s = passes_s(plan, request, known ? period_s : GAUGE_PERIOD_SLOW_S, order, course);
        usual_s = passes_s(plan, request, period_s, order, course);
        course->fewer = fast_s / usual_s;
        course->more = (slow_s + doubts_s(plan, request, known ? period_s : GAUGE_PERIOD_SLOW_S)) / usual_s;
        return 0;
}

static double visit_s(const struct hardware_description *description, enum observation_method method,
                      const struct planned_mode *mode)
{
        double percent_s = plan_percent_j(description) / mode->guess_w;

        return method == METHOD_TICKS ? fmax(TICKS_DWELL_GUESS_S, TICKS_GUESS_PERCENT * percent_s) : percent_s;
}

/* Fills @course with the block, and with the states that are chosen for their gain after it. */
static int course_by_level(const struct hardware_description *description, const struct plan *plan,
                           enum observation_method method, const struct run_request *request, struct course *course)
{
        _cleanup_free_ size_t *order = calloc(3 * plan->n + PLAN_IDLES, sizeof(*order));
        double chosen, stretch = 1, most;
        size_t n;

        if (!order)
                return -ENOMEM;
        n = plan->sapp ? plan_order_repeated(plan, request->seed, order) :
                         plan_order(plan, request->seed, 0, SIZE_MAX, false, order);
        course->observations = (double)n;
        course->fewer = course->more = 1;
        if (!plan->sapp) {
                course->observations = run_observations_usual(plan, method, request);
                chosen = fmax(course->observations - (double)n, 0);
                stretch = 1 + run_chosen_share(method) * chosen / fmax((double)n, 1);
                course->fewer = method == METHOD_TICKS ? TICKS_FEWER : FEWER;
                course->more = TICKS_MORE;
        }
        if (!plan->sapp && (method == METHOD_PERCENT || plan->only))
                course->more = fmax(1, (observations_max(plan, method, request) + packet_states(plan)) /
                                               course->observations);
        course->tested = run_scatter_percents(
                plan, method, request,
                fmin(request->battery_limit_percent, 100 - refuse_floor_percent(description)), &most);
        course->more *= (course->observations * course->more + most) /
                        (course->observations * course->more + course->tested);
        course->seconds[plan->burn] +=
                course->tested * visit_s(description, method, &plan->modes[plan->burn]);
        for (size_t i = 0; i < n; i++)
                course->seconds[order[i]] += stretch * visit_s(description, method, &plan->modes[order[i]]);
        return 0;
}

/* Reduces the estimate to the limits: the user's, and the charge above the floor. */
static void limit(const struct hardware_description *description, const struct run_request *request,
                  struct run_estimate *estimate)
{
        const double most[] = { fmin(request->battery_limit_percent, 100 - refuse_floor_percent(description)),
                                request->time_limit_h };
        struct run_amount *const amounts[] = { &estimate->percent, &estimate->hours };
        double share = fmin(fmin(most[0] / estimate->percent.usual, most[1] / estimate->hours.usual), 1);

        estimate->observations = (size_t)(share * (double)estimate->observations);
        for (size_t i = 0; i < ARRAY_SIZE(amounts); i++) {
                amounts[i]->low *= share;
                amounts[i]->usual *= share;
                amounts[i]->high = fmin(amounts[i]->high, most[i]);
        }
}

#define BURN_PERCENT 0.5 /* mean charge left in the partial first step */

/* Combines the uncertainty factors of independent causes, and SURPRISE. */
static double together(double a, double b)
{
        return exp(hypot(hypot(log(a), log(b)), log(1 + SURPRISE)));
}

static struct run_amount around(double usual, double low, double high)
{
        return (struct run_amount){ usual / low, usual, usual * high };
}

/*
 * By percent the steps give the charge, and the power gives their duration; by other methods the duration is given,
 * and the power gives the charge.
 */
static struct run_estimate estimate_of(const struct hardware_description *description, const struct plan *plan,
                                       enum observation_method method, const struct course *course,
                                       const struct plan_energy *energy)
{
        bool by_percent = method == METHOD_PERCENT;
        double weaker = energy->joules / energy->low_j, stronger = energy->high_j / energy->joules;
        double fewer = 1 / course->fewer, more = course->more, hours = course_s(plan, course) / 3600;
        double percent = by_percent ? course->observations + course->tested + BURN_PERCENT :
                                      energy->joules / plan_percent_j(description);

        return (struct run_estimate){
                .observations = (size_t)course->observations + by_percent,
                .hours = by_percent ? around(hours, together(fewer, stronger), together(more, weaker)) :
                                      around(hours, together(fewer, 1), together(more, 1)),
                .percent = by_percent ? around(percent, together(fewer, 1), together(more, 1)) :
                                        around(percent, together(fewer, weaker), together(more, stronger)),
        };
}

int run_estimate(const struct hardware_description *description, const struct plan *plan,
                 enum observation_method method, const struct run_request *request, struct run_estimate *ret)
{
        _cleanup_(course_clear) struct course course = { .seconds = calloc(plan->n + 1, sizeof(*course.seconds)) };
        struct plan_energy energy;
        int err;

        if (!course.seconds)
                return -ENOMEM;
        err = method == METHOD_GAUGE ? course_by_gauge(plan, request, &course) :
                                       course_by_level(description, plan, method, request, &course);
        if (!err)
                err = plan_energy(description, plan, course.seconds, &energy);
        if (err)
                return err;
        *ret = estimate_of(description, plan, method, &course, &energy);
        limit(description, request, ret);
        return 0;
}
