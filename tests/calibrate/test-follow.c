/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* joulecast-fit --follow: lines in, the next mode and the precision out. */

#include <cjson/cJSON.h>
#include <gsl/gsl_errno.h>
#include <stdlib.h>

#include "fit-fixture.h"
#include "fit/follow.h"

#define SCREEN 10 /* index in loads[] */
#define GREY "picture.255.grey"

static char *line_of(cJSON *json)
{
        char *text = cJSON_PrintUnformatted(json);

        cJSON_Delete(json);
        return text;
}

static cJSON *ask(struct follow *follow, char *line)
{
        bool end;
        cJSON *answer = follow_answer(follow, line, &end);

        free(line);
        return answer;
}

static char *start_line(double stop_percent)
{
        cJSON *line = cJSON_CreateObject(), *start = cJSON_AddObjectToObject(line, "start"), *modes;

        cJSON_AddStringToObject(start, "device", "made-up");
        cJSON_AddStringToObject(start, "method", "percent");
        cJSON_AddNumberToObject(start, "energy_full_mwh", BATTERY_MWH);
        cJSON_AddNumberToObject(start, "max_brightness", 255);
        cJSON_AddNumberToObject(start, "stop_percent", stop_percent);
        cJSON_AddNullToObject(start, "database");
        cJSON_AddItemToObject(start, "policies",
                              cJSON_Parse("[{\"policy\":0,\"cpus\":\"0-1\",\"n_cpus\":2,"
                                          "\"khz\":[300000,600000,900000,1200000]}]"));
        modes = cJSON_AddArrayToObject(start, "modes");
        for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
                cJSON *mode = cJSON_CreateObject();
                struct usage usage;

                fill_usage(&loads[i], 1, &usage);
                cJSON_AddStringToObject(mode, "name", loads[i].mode);
                cJSON_AddItemToObject(mode, "usage", usage_to_json(&usage));
                cJSON_AddBoolToObject(mode, "held_back", i == 3);
                cJSON_AddItemToArray(modes, mode);
                if (i == SCREEN) { /* the same in grey */
                        mode = cJSON_Duplicate(mode, true);
                        cJSON_ReplaceItemInObject(mode, "name", cJSON_CreateString(GREY));
                        cJSON_ReplaceItemInObject(mode, "held_back", cJSON_CreateTrue());
                        cJSON_AddItemToArray(modes, mode);
                }
                usage_clear(&usage);
        }
        return line_of(line);
}

/* Observation @i of the run; of a held-back mode with @off times its power; 0: not held back. */
static char *held_back_line(const struct load *load, size_t i, double off)
{
        cJSON *line = cJSON_CreateObject();
        struct observation observation;

        observe(load, i, &observation);
        observation.method = METHOD_PERCENT;
        observation.steps = 1;
        observation.refresh_s = 10;
        usage_clear(&observation.usage);
        observation.elapsed_ns = (uint64_t)(1000 * J_PER_PERCENT(BATTERY_MWH) / observation.power_mw *
                                            NS_PER_S);
        observation.charge_full_uah = 15000 / 3.8 * 1000;
        observation.voltage_mv = 3800;
        observation.power_mw = NAN;
        if (off > 0)
                observation.elapsed_ns = (uint64_t)((double)observation.elapsed_ns / off);
        observation.held_back = off > 0;
        fill_usage(load, (double)observation.elapsed_ns / NS_PER_S, &observation.usage);
        cJSON_AddItemToObject(line, "observation", observation_to_json(&observation));
        observation_clear(&observation);
        return line_of(line);
}

static char *observation_line(const struct load *load, size_t i)
{
        return held_back_line(load, i, 0);
}

static void follow_answers(void)
{
        struct follow *follow;
        cJSON *answer;
        double first = NAN, width = NAN;
        bool end;

        check_int(follow_new(&follow), 0);
        answer = ask(follow, observation_line(&loads[0], 0));
        check(cJSON_HasObjectItem(answer, "error"));
        cJSON_Delete(answer);
        answer = ask(follow, start_line(3));
        check(cJSON_IsTrue(cJSON_GetObjectItem(answer, "ready")));
        /* A level between the two. */
        check_int(cJSON_GetNumberValue(cJSON_GetObjectItem(answer, "parameters")), 1 + 8 + 2 + 3 + 1 + 2);
        cJSON_Delete(answer);
        for (size_t i = 0; i < 60; i++) {
                const char *next;

                answer = ask(follow, observation_line(&loads[i % ARRAY_SIZE(loads)], i));
                check(!cJSON_HasObjectItem(answer, "error"));
                check_int(cJSON_GetNumberValue(cJSON_GetObjectItem(answer, "rows")), i + 1);
                width = cJSON_GetNumberValue(cJSON_GetObjectItem(answer, "half_width_percent"));
                next = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "next"));
                check(!next || strcmp(next, loads[3].mode) != 0); /* held back */
                check(!next || strcmp(next, loads[i % ARRAY_SIZE(loads)].mode) != 0); /* never twice in a row */
                check(next ? !(width <= 3) : i < 2 || width <= 3);
                if (i == 20)
                        first = width;
                cJSON_Delete(answer);
        }
        check(width < first);
        answer = follow_answer(follow, "{\"end\": true}", &end);
        check(end && cJSON_IsTrue(cJSON_GetObjectItem(answer, "bye")));
        cJSON_Delete(answer);
        answer = follow_answer(follow, "nonsense", &end);
        check(!end && cJSON_HasObjectItem(answer, "error"));
        cJSON_Delete(answer);
        follow_free(follow);
}

/*
 * Observations of all modes except those with WiFi, left out or not; @next: the mode asked for after the
 * last.
 */
static double follow_without_wifi(struct follow *follow, bool left_out, size_t from, size_t to, char *next,
                                  size_t size)
{
        double width = NAN;

        for (size_t i = from; i < to; i++) {
                _cleanup_free_ char *text = observation_line(&loads[i % 12], i);
                cJSON *line = cJSON_Parse(text), *list = cJSON_AddArrayToObject(line, "left_out");
                const char *said;
                cJSON *answer;

                if (left_out) {
                        cJSON_AddItemToArray(list, cJSON_CreateString("wifi.on"));
                        cJSON_AddItemToArray(list, cJSON_CreateString("wifi.rx"));
                }
                answer = ask(follow, line_of(line));
                check(!cJSON_HasObjectItem(answer, "error"));
                width = cJSON_GetNumberValue(cJSON_GetObjectItem(answer, "half_width_percent"));
                said = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "next"));
                check(!left_out || !said || strncmp(said, "wifi", 4) != 0);
                snprintf(next, size, "%s", said ? said : "");
                cJSON_Delete(answer);
        }
        return width;
}

/*
 * Coefficients that no mode can measure any more are not waited for: the rest reaches its precision. They are
 * again when a mode can come again.
 */
static void left_out_is_not_waited_for(void)
{
        struct follow *follow;
        char next[64];

        check_int(follow_new(&follow), 0);
        cJSON_Delete(ask(follow, start_line(8)));
        check(isnan(follow_without_wifi(follow, false, 0, 60, next, sizeof(next))));
        check(strncmp(next, "wifi", 4) == 0);
        check(follow_without_wifi(follow, true, 60, 61, next, sizeof(next)) <= 8);
        check_text(next, "");
        check(isnan(follow_without_wifi(follow, false, 61, 62, next, sizeof(next))));
        check(strncmp(next, "wifi", 4) == 0);
        follow_free(follow);
}

/* A held-back mode whose first row disagrees is measured three times, whatever the second row shows. */
static void doubts_are_measured_again(void)
{
        static const struct { double off[3]; size_t doubted; } cases[] = {
                { { 1, 1, 1 }, 0 }, { { 1.4, 1, 1 }, 2 }, { { 1.4, 1.4, 1.4 }, 2 },
        };

        for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
                struct follow *follow;
                size_t n = 0, doubted = 0;

                check_int(follow_new(&follow), 0);
                cJSON_Delete(ask(follow, start_line(3)));
                for (; n < 40; n++)
                        cJSON_Delete(ask(follow, observation_line(&loads[n % 3], n)));
                for (; n < 60; n++)
                        cJSON_Delete(ask(follow, observation_line(&loads[4 + n % (ARRAY_SIZE(loads) - 4)], n)));
                for (size_t i = 0; i < 3; i++) {
                        cJSON *answer = ask(follow, held_back_line(&loads[3], n++, cases[c].off[i]));
                        const char *mode = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "doubted"));

                        check(cJSON_HasObjectItem(answer, "doubted"));
                        check(!mode || strcmp(mode, loads[3].mode) == 0);
                        doubted += mode != NULL;
                        cJSON_Delete(answer);
                        if (!mode)
                                break;
                }
                check_int(doubted, cases[c].doubted);
                follow_free(follow);
        }
}

/* A picture that takes @part of white's power; grey is asked for once black showed that it matters. */
static const char *ask_picture(struct follow *follow, const char *name, size_t i, double part)
{
        struct load load = loads[SCREEN];
        _cleanup_free_ char *text = held_back_line(&load, i, part);
        static char said[MODE_NAME_MAX];
        cJSON *line = cJSON_Parse(text), *observation = cJSON_GetObjectItem(line, "observation"), *answer;
        const char *doubted;

        cJSON_ReplaceItemInObject(observation, "mode", cJSON_CreateString(name));
        cJSON_ReplaceItemInObject(observation, "kind", cJSON_CreateString("picture"));
        cJSON_ReplaceItemInObject(observation, "held_back", cJSON_CreateFalse());
        answer = ask(follow, line_of(line));
        doubted = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "doubted"));
        snprintf(said, sizeof(said), "%s", doubted ? doubted : "");
        cJSON_Delete(answer);
        return said;
}

static void grey_comes_after_black(void)
{
        for (int oled = 0; oled < 2; oled++) {
                struct follow *follow;
                size_t n = 0;

                check_int(follow_new(&follow), 0);
                cJSON_Delete(ask(follow, start_line(3)));
                for (; n < 60; n++)
                        cJSON_Delete(ask(follow, observation_line(&loads[n % ARRAY_SIZE(loads)], n)));
                check_text(ask_picture(follow, "picture.255.black", n++, oled ? 0.6 : 1), oled ? GREY : "");
                check_text(ask_picture(follow, GREY, n++, oled ? 0.8 : 1), "");
                follow_free(follow);
        }
}

int main(void)
{
        gsl_set_error_handler_off();
        follow_answers();
        left_out_is_not_waited_for();
        grey_comes_after_black();
        doubts_are_measured_again();
        return check_result();
}
