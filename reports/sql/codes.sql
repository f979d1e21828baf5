-- What compilers made of the kernels of the run.
SELECT file, kernel, form, text FROM codes WHERE run_id = :run ORDER BY file, kernel, form
