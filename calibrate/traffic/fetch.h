/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The only file that configures libcurl; used by receive.c and wake.c. */

#include <curl/curl.h>

#include "traffic.h"

int errno_from_curl(CURLcode code);

/* A handle for request->url; @error has CURL_ERROR_SIZE bytes and must outlive it. NULL: no memory. */
CURL *fetch_new(const struct request *request, char *error);
void fetch_freep(CURL **curl);

/* Adds the headers of the finished transfer to @tally; returns the bytes received. */
uint64_t fetch_overhead(CURL *curl, struct tally *tally);
