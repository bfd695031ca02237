-- Evidence names the prompt and model that read its claim; rules and persons leave it empty.
ALTER TABLE evidence ADD COLUMN reader TEXT;
